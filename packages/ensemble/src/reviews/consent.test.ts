import { describe, expect, it } from 'vitest'

import { listReviewsOfFork } from './consent.ts'

import type { RunStep, StepOf } from '../ports/run-step.ts'

const AT = { taskName: 'pay', attempt: 1, taskMs: 0, runMs: 0 } as const

const BEGUN: RunStep = { ...AT, kind: 'task_begun', outputDigest: null }

const USED = { inputTokens: 1, outputTokens: 1, toolCallCount: 0 } as const

/** A turn of the model with two calls. */
const TURN: RunStep = {
  ...AT,
  kind: 'model_turn',
  iterationIndex: 0,
  reply: {
    text: '',
    toolCalls: ['c1', 'c2'].map((id) => ({ id, name: 'send', arguments: '{}' })),
  },
  latencyMs: 1,
  directiveIds: [],
}

const FAILED: RunStep = {
  ...AT,
  kind: 'task_failed',
  error: { code: 'TASK_FAILED', message: 'it broke', retryable: false },
  used: USED,
  willRetry: true,
}

const COMPLETED: RunStep = {
  ...AT,
  kind: 'task_completed',
  output: 'paid',
  used: USED,
  durationMs: 1,
}

function opened(
  slot: string,
  { reviewId = slot, attempt = 1 }: { readonly reviewId?: string; readonly attempt?: number } = {},
): StepOf<'gate_opened'> {
  const timing =
    slot === 'before'
      ? 'BEFORE_EXECUTION'
      : slot === 'after'
        ? 'AFTER_EXECUTION'
        : 'DURING_EXECUTION'
  return { ...AT, attempt, kind: 'gate_opened', reviewId, timing, slot, openedAt: 0, basis: 'b' }
}

function closed(reviewId: string): RunStep {
  return { ...AT, kind: 'gate_closed', reviewId, decision: { action: 'CONTINUE' }, timedOut: false }
}

function ended(position: number, { attempt = 1, iterationIndex = 0 } = {}): RunStep {
  const how = { iterationIndex, position, durationMs: 1, text: 'sent' }
  return { ...AT, attempt, kind: 'tool_ended', ...how }
}

describe('listReviewsOfFork', () => {
  it.each<[string, readonly RunStep[], readonly string[]]>([
    ['an open review', [BEGUN, opened('after')], ['after']],
    [
      'a decided review of a task that is not completed',
      [BEGUN, opened('after'), closed('after')],
      ['after'],
    ],
    ['no review of a completed task', [opened('before'), BEGUN, opened('after'), COMPLETED], []],
    [
      'only the last review of a place',
      [
        BEGUN,
        opened('after', { reviewId: 'r1' }),
        closed('r1'),
        opened('after', { reviewId: 'r2' }),
      ],
      ['r2'],
    ],
    ['no review of an attempt that failed', [BEGUN, opened('after'), FAILED], []],
    [
      'a review before a task also after a failed attempt',
      [opened('before'), BEGUN, FAILED],
      ['before'],
    ],
    [
      'the review of a call that has not ended',
      [BEGUN, TURN, opened('tool/0/c1/0'), opened('tool/0/c2/0'), ended(1)],
      ['tool/0/c1/0'],
    ],
    [
      'the review of a call when only the call of another attempt has ended',
      [
        BEGUN,
        TURN,
        ended(0),
        FAILED,
        { ...BEGUN, attempt: 2 },
        opened('tool/0/c1/0', { attempt: 2 }),
      ],
      ['tool/0/c1/0'],
    ],
    [
      'the review of a call when only the call of another turn has ended',
      [BEGUN, TURN, { ...TURN, iterationIndex: 1 }, opened('tool/1/c1/0'), ended(0)],
      ['tool/1/c1/0'],
    ],
  ])('A fork lists %s', (_, steps, expected) => {
    expect(listReviewsOfFork(steps).map(({ reviewId }) => reviewId)).toEqual(expected)
  })
})
