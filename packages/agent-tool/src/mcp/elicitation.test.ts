import { describe, expect, it } from 'vitest'

import { toFormAnswer, formatQuestion } from './elicitation.ts'

import type { McpForm } from '@tutti/mcp/internal'

type Properties = McpForm['requestedSchema']['properties']

function form(properties: Properties, required: string[] = Object.keys(properties)): McpForm {
  return { message: 'Well?', requestedSchema: { type: 'object', properties, required } }
}

const NAME = form({ name: { type: 'string' } })
const CONFIRM = form({})
const BOTH = form({ name: { type: 'string' }, age: { type: 'integer' } })

describe('a form of an MCP tool', () => {
  it('[AGENT-E2] A form of an MCP tool becomes a question that names the expected answer unless it is one text', () => {
    expect(formatQuestion(NAME)).toBe('Well?')
    expect(formatQuestion(CONFIRM)).toBe('Well?\nAnswer yes or no')
    expect(formatQuestion(BOTH)).toMatch(/^Well\?\nAnswer with JSON that matches \{.*"age"/)
    expect(formatQuestion(form({ pet: { type: 'string', enum: ['cat'] } }))).toContain('"cat"')
  })

  it.each([
    ['a text', 'Ada', NAME, { name: 'Ada' }],
    ['a number as text', 7, NAME, { name: '7' }],
    ['an integer', ' 36 ', form({ age: { type: 'integer' } }), { age: 36 }],
    ['a number', 1.5, form({ n: { type: 'number' } }), { n: 1.5 }],
    ['a yes', 'Yes', form({ ok: { type: 'boolean' } }), { ok: true }],
    ['a no', 'no', form({ ok: { type: 'boolean' } }), { ok: false }],
    [
      'one item of a list',
      'a',
      form({ l: { type: 'array', items: { type: 'string', enum: ['a'] } } }),
      { l: ['a'] },
    ],
    [
      'a text for the only required field',
      'Ada',
      form({ name: { type: 'string' }, x: { type: 'string' } }, ['name']),
      { name: 'Ada' },
    ],
    ['JSON', '{"name":"Ada","age":36}', BOTH, { name: 'Ada', age: 36 }],
    ['an object', { name: 'Ada', age: 36 }, BOTH, { name: 'Ada', age: 36 }],
    [
      'an acceptance with values',
      { action: 'accept', content: { name: 'Ada' } },
      NAME,
      { name: 'Ada' },
    ],
    [
      'an object with a field named action',
      { action: 'decline' },
      form({ action: { type: 'string' } }),
      { action: 'decline' },
    ],
    ['[AGENT-E2] a yes', 'YES', CONFIRM, {}],
    ['[AGENT-E2] true', true, CONFIRM, {}],
  ])('[AGENT-E1] A form of an MCP tool is accepted by %s', (_, answer, asked, content) => {
    expect(toFormAnswer(answer, asked)).toEqual({ action: 'accept', content })
  })

  it.each([
    ['null', null, NAME, 'decline'],
    ['an object with the action decline', { action: 'decline' }, NAME, 'decline'],
    ['an object with the action cancel', { action: 'cancel' }, BOTH, 'cancel'],
    ['the word decline', 'Decline', BOTH, 'decline'],
    ['the word cancel', 'cancel', BOTH, 'cancel'],
    ['[AGENT-E2] a no', 'no', CONFIRM, 'decline'],
    ['[AGENT-E2] false', false, CONFIRM, 'decline'],
    [
      '[AGENT-E3] the form itself',
      { message: 'Well?', requestedSchema: NAME.requestedSchema },
      NAME,
      'decline',
    ],
  ])('A form of an MCP tool is declined or cancelled by %s', (_, answer, asked, action) => {
    expect(toFormAnswer(answer, asked)).toEqual({ action })
  })

  it.each([
    ['Ada, 36', BOTH],
    ['soon', form({ age: { type: 'integer' } })],
    ['1.5', form({ age: { type: 'integer' } })],
    ['', form({ age: { type: 'number' } })],
    ['maybe', CONFIRM],
    ['cancel', form({ ok: { type: 'boolean' } })],
  ])('[AGENT-E1] A form of an MCP tool rejects the answer %j as invalid', (answer, asked) => {
    expect(toFormAnswer(answer, asked)).toBeUndefined()
  })
})
