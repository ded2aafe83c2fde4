import { describe, expect, it } from 'vitest'

import { readResume, type InterruptReview } from './interrupt.ts'

// NOTE: an answer is read by no other fields.
const REVIEWS = {
  BEFORE_EXECUTION: {
    kind: 'TASK_INPUT',
    timing: 'BEFORE_EXECUTION',
    taskDescription: 'Do',
  } as InterruptReview,
  DURING_EXECUTION: {
    kind: 'TOOL_CALL',
    timing: 'DURING_EXECUTION',
    taskDescription: 'Call',
    toolInput: { sum: 1 },
  } as InterruptReview,
  QUESTION: {
    kind: 'QUESTION',
    timing: 'DURING_EXECUTION',
    prompt: 'Which country?',
    taskDescription: 'Which country?',
  } as InterruptReview,
  AFTER_EXECUTION: {
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    taskDescription: 'Do',
  } as InterruptReview,
}

const read = (timing: keyof typeof REVIEWS, payload: unknown): unknown =>
  readResume({ interruptId: 'r1', status: 'resolved', payload }, REVIEWS[timing], '/resume/0')

describe('[GW-Y4] the answer to an interrupt', () => {
  it.each([
    ['DURING_EXECUTION', { approved: true }, { decision: 'CONTINUE' }],
    ['DURING_EXECUTION', { approved: true, editedArgs: null }, { decision: 'CONTINUE' }],
    [
      'DURING_EXECUTION',
      { approved: true, editedArgs: { sum: 2 } },
      { decision: 'EDIT', revisedOutput: '{"sum":2}' },
    ],
    [
      'AFTER_EXECUTION',
      { approved: true, editedOutput: 'x' },
      { decision: 'EDIT', revisedOutput: 'x' },
    ],
    [
      'AFTER_EXECUTION',
      { approved: false, feedback: 'no' },
      { decision: 'REJECT', feedback: 'no' },
    ],
    ['BEFORE_EXECUTION', { approved: false }, { decision: 'REJECT' }],
    ['QUESTION', 'Germany', { decision: 'EDIT', revisedOutput: 'Germany' }],
    ['QUESTION', { answer: 'Germany' }, { decision: 'EDIT', revisedOutput: 'Germany' }],
    ['QUESTION', { answer: 42 }, { decision: 'EDIT', revisedOutput: '42' }],
  ] as const)('%s %j is the decision %j', (timing, payload, decision) => {
    expect(read(timing, payload)).toEqual(decision)
  })

  it.each([
    ['DURING_EXECUTION', { approved: true, editedOutput: 'x' }, 'editedOutput'],
    ['DURING_EXECUTION', { approved: true, editedArgs: {}, editedOutput: 'x' }, 'editedOutput'],
    ['DURING_EXECUTION', { approved: true, feedback: 'but' }, 'feedback'],
    ['DURING_EXECUTION', { approved: false, editedArgs: {} }, 'editedArgs'],
    ['DURING_EXECUTION', { approved: false, feedback: 5 }, 'feedback'],
    ['DURING_EXECUTION', { approved: true, args: {} }, 'args'],
    ['AFTER_EXECUTION', { approved: true, editedArgs: {} }, 'editedArgs'],
    ['AFTER_EXECUTION', { approved: true, editedOutput: { a: 1 } }, 'editedOutput'],
    ['AFTER_EXECUTION', { approved: false, editedOutput: 'x' }, 'editedOutput'],
    ['BEFORE_EXECUTION', { approved: true, feedback: 'x' }, 'feedback'],
    ['BEFORE_EXECUTION', { decision: 'CONTINUE', revisedOutput: 'x' }, 'revisedOutput'],
    ['BEFORE_EXECUTION', { decision: 'EXIT_EARLY', feedback: 'x' }, 'feedback'],
  ] as const)('%s %j is rejected and names /%s', (timing, payload, field) => {
    expect(() => read(timing, payload)).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        message: expect.stringContaining(`/resume/0/payload/${field}`),
      }),
    )
  })
})
