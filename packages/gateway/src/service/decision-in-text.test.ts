import { describe, expect, it } from 'vitest'

import { asksQuestion, readMessageDecision, parseDecision } from './decision-in-text.ts'

import type { ReviewMessage } from './decision-in-text.ts'

describe('parseDecision', () => {
  it.each([
    'yes',
    ' Approve. ',
    'OK',
    'okay',
    'continue',
    'Accepted!',
    'lgtm',
    'go on',
    'y',
    'APPROVED!',
  ])('parseDecision reads "%s" as approval', (text) => {
    expect(parseDecision(text)).toEqual({ decision: 'CONTINUE' })
  })

  it.each([
    ['no', undefined],
    ['Rejected.', undefined],
    ['no:', undefined],
    ['deny, too long', 'too long'],
    ['reject: shorter,\nplease', 'shorter,\nplease'],
    ['No:\ntwo\nlines', 'two\nlines'],
  ])('parseDecision reads "%s" as a rejection with its reason', (text, feedback) => {
    expect(parseDecision(text)).toEqual({
      decision: 'REJECT',
      ...(feedback === undefined ? {} : { feedback }),
    })
  })

  it.each(['exit', 'Exit early', 'exit_early', 'stop!'])(
    'parseDecision reads "%s" as an early exit',
    (text) => {
      expect(parseDecision(text)).toEqual({ decision: 'EXIT_EARLY' })
    },
  )

  it.each([
    'no changes in the second part',
    'yes, but shorter',
    'approve of this?',
    'rejecting: a',
    'stop the music',
    'nope',
    '',
  ])('parseDecision does not read "%s" as a decision', (text) => {
    expect(parseDecision(text)).toBeUndefined()
  })
})

describe('asksQuestion', () => {
  it.each([
    ['QUESTION', true],
    ['TOOL_CALL', false],
    ['CLIENT_TOOL', false],
    ['TASK_INPUT', false],
    ['TASK_OUTPUT', false],
  ] as const)('asksQuestion for a review of the kind %s is %s', (kind, expected) => {
    expect(asksQuestion({ kind })).toBe(expected)
  })
})

describe('readMessageDecision', () => {
  const output = {
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    taskDescription: 'Sing',
  } as const
  const call = {
    kind: 'TOOL_CALL',
    timing: 'DURING_EXECUTION',
    taskDescription: 'Tunes',
  } as const
  const question = { ...call, kind: 'QUESTION' } as const
  const message = (text: string, more: Partial<ReviewMessage> = {}): ReviewMessage => ({
    text,
    path: '/message',
    ...more,
  })

  it('readMessageDecision reads an object as the decision, before anything else', () => {
    const given = message('no', { object: { decision: 'REJECT', feedback: 'x' }, answer: 'no' })
    for (const review of [output, call, question]) {
      expect(readMessageDecision(given, review)).toEqual({ decision: 'REJECT', feedback: 'x' })
    }
  })

  it('readMessageDecision reads an object with a decision as the answer when the schema of the answer has that field', () => {
    const answerSchema = { type: 'object', properties: { decision: { type: 'string' } } }
    const given = message('', { object: { decision: 'MAYBE' }, answer: { decision: 'MAYBE' } })
    expect(readMessageDecision(given, { ...question, answerSchema })).toEqual({
      decision: 'EDIT',
      revisedOutput: '{"decision":"MAYBE"}',
    })
  })

  it('readMessageDecision reports every problem of an object by its path in the request', () => {
    const given = message('approve', { object: { decision: 'MAYBE', feedback: 1 } })
    expect(() => readMessageDecision(given, output)).toThrow(
      /\/message\/decision.*\/message\/feedback/,
    )
  })

  it('readMessageDecision reads any text as the answer to the question of a tool, also the words of a decision', () => {
    for (const [answer, revisedOutput] of [
      ['no', 'no'],
      [{ city: 'Bonn' }, '{"city":"Bonn"}'],
    ]) {
      expect(readMessageDecision(message('no', { answer }), question)).toEqual({
        decision: 'EDIT',
        revisedOutput,
      })
    }
    expect(readMessageDecision(message('no', { answer: 'no' }), call)).toEqual({
      decision: 'REJECT',
    })
  })

  it('readMessageDecision replaces the output with other text, and the input of a tool only with JSON', () => {
    const edit = (revisedOutput: string) => ({ decision: 'EDIT', revisedOutput })
    expect(readMessageDecision(message(' La la '), output)).toEqual(edit(' La la '))
    const json = message('{"hertz":442}', { toolInput: '{"hertz":442}' })
    expect(readMessageDecision(json, call)).toEqual(edit('{"hertz":442}'))
    expect(() => readMessageDecision(message('higher'), call)).toThrow('input of the tool as JSON')
  })

  it('readMessageDecision rejects blank text', () => {
    expect(() => readMessageDecision(message(' \n'), output)).toThrow('must not be blank')
  })
})
