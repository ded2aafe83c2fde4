import { describe, expect, it } from 'vitest'

import { readTasksDecision, readMessage } from './request.ts'

import type { ReviewAsked } from '@tutti/gateway/internal'

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
])('The tasks request reader reads the text %s as %j', (text, said) => {
  expect(readMessage([{ text }])).toMatchObject({ raw: text, text: said })
})

it('The tasks request reader reads an object as an object, but not a list or a text', () => {
  expect(readMessage([{ text: '{"a":1}' }]).object).toEqual({ a: 1 })
  expect(readMessage([{ data: { a: 1 } }])).toEqual({
    raw: '{"a":1}',
    text: '{"a":1}',
    object: { a: 1 },
  })
  expect(readMessage([{ text: '[1]' }])).not.toHaveProperty('object')
  expect(readMessage([{ text: '"{}"' }])).not.toHaveProperty('object')
})

it('The tasks request reader joins several parts with newlines', () => {
  expect(readMessage([{ text: 'a' }, { data: [1] }, { text: '' }]).text).toBe('a\n[1]\n')
  expect(readMessage([])).toEqual({ raw: '', text: '' })
})

const AFTER: ReviewAsked = {
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
}
const CALL: ReviewAsked = {
  kind: 'TOOL_CALL',
  timing: 'DURING_EXECUTION',
}

const decide = (text: string, review: ReviewAsked) =>
  readTasksDecision(readMessage([{ text }]), review)

describe('readTasksDecision for a text', () => {
  it('readTasksDecision reads a text inside quotes', () => {
    expect(decide('"lgtm"', AFTER)).toEqual({ decision: 'CONTINUE' })
    expect(decide('no changes', AFTER)).toEqual({ decision: 'EDIT', revisedOutput: 'no changes' })
  })

  it('readTasksDecision reads the text of a tool review as the new input, as a JSON string if it is not JSON', () => {
    expect(decide('{"hertz":442}', CALL)).toEqual({
      decision: 'EDIT',
      revisedOutput: '{"hertz":442}',
    })
    expect(decide('higher', CALL)).toEqual({ decision: 'EDIT', revisedOutput: '"higher"' })
    expect(decide('"higher"', CALL)).toEqual({ decision: 'EDIT', revisedOutput: '"higher"' })
  })

  it.each(['yes', 'no', '"no"', 'stop'])(
    'readTasksDecision reads %j as the answer to a question',
    (text) => {
      expect(decide(text, { ...CALL, kind: 'QUESTION' })).toEqual({
        decision: 'EDIT',
        revisedOutput: text.replaceAll('"', ''),
      })
    },
  )

  it('readTasksDecision reads a word as a decision after a task, which has no input', () => {
    expect(decide('yes', AFTER)).toEqual({ decision: 'CONTINUE' })
  })

  it.each(['', ' \n', '{}', 'null', '""'])('readTasksDecision rejects %j as blank', (text) => {
    expect(() => decide(text, AFTER)).toThrow('must not be blank')
  })
})

describe('readTasksDecision for an object', () => {
  it('readTasksDecision accepts the decision of an object, and reports every problem', () => {
    expect(decide('{"decision":"REJECT","feedback":"x"}', AFTER)).toEqual({
      decision: 'REJECT',
      feedback: 'x',
    })
    expect(() => decide('{"decision":"NO","more":1}', AFTER)).toThrow(
      /decision.*more|more.*decision/s,
    )
  })

  it('readTasksDecision reads an object without a decision as a text', () => {
    expect(decide('{"a":1}', AFTER)).toEqual({ decision: 'EDIT', revisedOutput: '{"a":1}' })
  })
})
