import { describe, expect, it } from 'vitest'

import { decisionOf } from './decision-of.ts'

import type { Gate } from './task-view.ts'

const AFTER: Gate = {
  type: 'review_requested',
  reviewId: 'r',
  taskDescription: 'Sing',
  taskOutput: 'La',
  timing: 'AFTER_EXECUTION',
  prompt: null,
  timeoutMs: 0,
  onTimeout: 'CONTINUE',
  taskName: 'sing',
  taskIndex: 1,
  attempt: 1,
  agentRole: 'Singer',
  requestedAt: '2026-01-01T00:00:00Z',
}
const CALL: Gate = { ...AFTER, timing: 'DURING_EXECUTION', toolName: 't', toolInput: { a: 1 } }
const QUESTION: Gate = { ...CALL, taskDescription: 'Which?', toolInput: 'Which?' }
const FORM: Gate = { ...CALL, taskDescription: 'Which?', toolInput: null }
/** A tool of text that is asked for: its input is not what is asked. */
const TEXT_CALL: Gate = { ...CALL, taskDescription: 'Runs a command', toolInput: 'ls' }

const said = (text: string, ...data: readonly unknown[]) => ({ text, data })

describe('decisionOf', () => {
  it.each([
    [{ decision: 'CONTINUE' }, { decision: 'CONTINUE' }],
    [
      { decision: 'EDIT', revisedOutput: 'x', reviewId: 'r' },
      { decision: 'EDIT', revisedOutput: 'x' },
    ],
    [
      { decision: 'REJECT', feedback: 'x', other: 1 },
      { decision: 'REJECT', feedback: 'x' },
    ],
  ])('[D1] takes %j as it is over REST', (data, decision) => {
    expect(decisionOf(AFTER, said('words beside', [1], data))).toEqual(decision)
    expect(decisionOf(QUESTION, said('', data))).toEqual(decision)
  })

  it.each([{ decision: 'MAYBE' }, { decision: 'EDIT' }, { decision: 7 }])(
    '[D1] refuses %j',
    (data) => {
      expect(() => decisionOf(AFTER, said('approve', data))).toThrow('The parameters do not fit')
    },
  )

  it.each(['approve', 'no', 'exit', '{"a":1}', ' two words '])(
    '[D2] takes "%s" as the answer to a question',
    (text) => {
      const answer = { decision: 'EDIT', revisedOutput: JSON.stringify(text) }
      expect(decisionOf(QUESTION, said(text))).toEqual(answer)
      expect(decisionOf(FORM, said(text))).toEqual(answer)
    },
  )

  it('[D2] takes data as the answer to a question', () => {
    expect(decisionOf(FORM, said('', { key: 'D' }))).toEqual({
      decision: 'EDIT',
      revisedOutput: '{"key":"D"}',
    })
  })

  it.each([
    ['approve', { decision: 'CONTINUE' }],
    ['Approved.', { decision: 'CONTINUE' }],
    [' YES! ', { decision: 'CONTINUE' }],
    ['ok', { decision: 'CONTINUE' }],
    ['continue', { decision: 'CONTINUE' }],
    ['no', { decision: 'REJECT' }],
    ['Reject', { decision: 'REJECT' }],
    ['reject: too loud\nand slow', { decision: 'REJECT', feedback: 'too loud\nand slow' }],
    ['No, too loud', { decision: 'REJECT', feedback: 'too loud' }],
    ['exit', { decision: 'EXIT_EARLY' }],
    ['EXIT_EARLY', { decision: 'EXIT_EARLY' }],
  ])('[D3] takes "%s" as a word for a decision, of tasks and of tools', (text, decision) => {
    for (const gate of [AFTER, CALL, TEXT_CALL]) {
      expect(decisionOf(gate, said(text))).toEqual(decision)
    }
  })

  it.each(['No man is an island', 'yes we can', 'approve of this?', 'nothing', 'exit the hall'])(
    '[D4] takes "%s" as what takes the place of the output',
    (text) => {
      expect(decisionOf(AFTER, said(text))).toEqual({ decision: 'EDIT', revisedOutput: text })
    },
  )

  it('[D4] takes JSON as the input of a tool, and no remark', () => {
    const edit = { decision: 'EDIT', revisedOutput: '{"a":2}' }
    expect(decisionOf(CALL, said('{"a":2}'))).toEqual(edit)
    for (const gate of [CALL, TEXT_CALL]) {
      expect(() => decisionOf(gate, said('a bit less'))).toThrow('the input of the tool as JSON')
    }
  })

  it.each([AFTER, CALL, QUESTION])('refuses to be told nothing', (gate) => {
    expect(() => decisionOf(gate, said(' '))).toThrow('must say something')
  })
})
