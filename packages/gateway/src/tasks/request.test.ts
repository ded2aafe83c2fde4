import { describe, expect, it } from 'vitest'

import { readTasksDecision, readMessage } from './request.ts'

import type { ReviewAsked } from '../service/decision-in-text.ts'

it.each([
  ['"hello"', 'hello'],
  ['hello', 'hello'],
  ['"a', '"a'],
  ['{}', ''],
  ['null', ''],
  ['""', ''],
  ['5', '5'],
  ['[1]', '[1]'],
  ['true', 'true'],
  ['{"a":"b"}', '{"a":"b"}'],
])('the text %s says %j', (text, said) => {
  expect(readMessage([{ text }])).toMatchObject({ raw: text, text: said })
})

it('an object is there as one, a list and a text are not', () => {
  expect(readMessage([{ text: '{"a":1}' }]).object).toEqual({ a: 1 })
  expect(readMessage([{ data: { a: 1 } }])).toEqual({
    raw: '{"a":1}',
    text: '{"a":1}',
    object: { a: 1 },
  })
  expect(readMessage([{ text: '[1]' }])).not.toHaveProperty('object')
  expect(readMessage([{ text: '"{}"' }])).not.toHaveProperty('object')
})

it('several parts are lines', () => {
  expect(readMessage([{ text: 'a' }, { data: [1] }, { text: '' }]).text).toBe('a\n[1]\n')
  expect(readMessage([])).toEqual({ raw: '', text: '' })
})

const AFTER: ReviewAsked = { timing: 'AFTER_EXECUTION', taskDescription: 'Sing' }
const CALL: ReviewAsked = {
  timing: 'DURING_EXECUTION',
  taskDescription: 'Tunes',
  toolInput: { hertz: 440 },
}

const decide = (text: string, review: ReviewAsked) =>
  readTasksDecision(readMessage([{ text }]), review)

describe('the decision of a text', () => {
  it('is read from the text in quotes', () => {
    expect(decide('"lgtm"', AFTER)).toEqual({ decision: 'CONTINUE' })
    expect(decide('no changes', AFTER)).toEqual({ decision: 'EDIT', revisedOutput: 'no changes' })
  })

  it('is the new input of a tool, as a JSON string when it is not JSON', () => {
    expect(decide('{"hertz":442}', CALL)).toEqual({
      decision: 'EDIT',
      revisedOutput: '{"hertz":442}',
    })
    expect(decide('higher', CALL)).toEqual({ decision: 'EDIT', revisedOutput: '"higher"' })
    expect(decide('"higher"', CALL)).toEqual({ decision: 'EDIT', revisedOutput: '"higher"' })
  })

  it.each([null, 'Tunes', { input: 'Tunes' }])(
    'is the answer to a question asked as %j',
    (toolInput) => {
      for (const text of ['yes', 'no', '"no"', 'stop']) {
        const answer = JSON.stringify(text.replaceAll('"', ''))
        expect(decide(text, { ...CALL, toolInput })).toEqual({
          decision: 'EDIT',
          revisedOutput: answer,
        })
      }
      expect(decide('yes', { ...AFTER, toolInput })).toEqual({ decision: 'CONTINUE' })
    },
  )

  it.each(['', ' \n', '{}', 'null', '""'])('%j is refused as blank', (text) => {
    expect(() => decide(text, AFTER)).toThrow('must not be blank')
  })
})

describe('the decision of an object', () => {
  it('is taken as it is, with every problem named', () => {
    expect(decide('{"decision":"REJECT","feedback":"x"}', AFTER)).toEqual({
      decision: 'REJECT',
      feedback: 'x',
    })
    expect(() => decide('{"decision":"NO","more":1}', AFTER)).toThrow(
      /decision.*more|more.*decision/s,
    )
  })

  it('is a text like others without the field', () => {
    expect(decide('{"a":1}', AFTER)).toEqual({ decision: 'EDIT', revisedOutput: '{"a":1}' })
  })
})
