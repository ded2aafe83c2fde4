import { RunStateFold, type LoggedRunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { plainLines } from './plain-lines.ts'

const TURN = {
  agentRole: 'Writer',
  taskDescription: 'Write',
  iterationIndex: 0,
  taskName: 'write',
  taskIndex: 1,
  attempt: 1,
  model: 'small',
  latencyMs: 5,
  runId: 'run-1',
  seq: 1,
  id: 'run-1:1',
} as const

const ANSWER = {
  ...TURN,
  type: 'llm_iteration_completed',
  responseType: 'FINAL_ANSWER',
  inputTokens: -1,
  outputTokens: -1,
  completedAt: '2026-01-01T00:00:00.000Z',
} as const

const FAILURE = {
  ...TURN,
  type: 'llm_iteration_failed',
  reason: 'Slow down',
  code: 'MODEL_FAILED',
  failedAt: '2026-01-01T00:00:00.000Z',
} as const

function formatWithoutTime(event: LoggedRunEvent): readonly string[] {
  return plainLines(event, new RunStateFold()).map((line) => line.replace(/^\[[^\]]*\] /, ''))
}

describe('plainLines for a model call', () => {
  it('plainLines shows why an answer ended early, and no line for a complete answer', () => {
    expect(formatWithoutTime({ ...ANSWER, finishReason: 'stop' })).toEqual([])
    expect(formatWithoutTime({ ...ANSWER, finishReason: 'length' })).toEqual([
      'write: model small: answer truncated at the output limit',
    ])
    expect(formatWithoutTime({ ...ANSWER, finishReason: 'refusal', refusal: 'I cannot.' })).toEqual(
      ['write: model small: refused to answer: I cannot.'],
    )
  })

  it('plainLines shows how long the provider asks to wait, even if the next model does not wait', () => {
    expect(formatWithoutTime({ ...FAILURE, retryAfterMs: 90_000, nextModel: 'large' })).toEqual([
      expect.stringMatching(/Slow down; the provider asks to wait .*; next model: large$/),
    ])
  })
})

describe('plainLines for a completed task', () => {
  const completed = {
    ...TURN,
    type: 'task_completed',
    totalTasks: 1,
    completedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 20,
    tokenCount: 0,
    toolCallCount: 0,
    output: 'x',
    inputTokens: 0,
    outputTokens: 0,
    iterationLimitReached: false,
  } as const

  it('plainLines shows the duration of a completed task, or that the request of a fork gave its output', () => {
    expect(formatWithoutTime(completed)).toEqual(['write: completed in 20 ms'])
    expect(formatWithoutTime({ ...completed, outputGiven: true })).toEqual(['write: output given'])
  })
})

it('plainLines shows failed steps and all compensations of a handler, and no line for other steps', () => {
  const step = {
    type: 'handler_step_ended',
    runId: 'run-1',
    seq: 1,
    id: 'run-1:1',
    taskName: 'trip',
    taskIndex: 1,
    attempt: 1,
    step: 'book\nhotel',
    tries: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:00:01.000Z',
  } as const
  const failed = { ...step, reason: 'No\nrooms', code: 'TASK_FAILED' } as const
  const undo = { isCompensation: true, step: 'cancel' } as const
  expect(
    [
      step,
      { ...failed, willRetry: true as const },
      failed,
      { ...step, ...undo },
      { ...failed, ...undo },
    ].flatMap(formatWithoutTime),
  ).toEqual([
    'trip: step "book hotel" failed: No rooms; retrying',
    'trip: step "book hotel" failed: No rooms',
    'trip: compensation "cancel" completed',
    'trip: compensation "cancel" failed: No rooms',
  ])
})

it('A handoff has a line with the next agent', () => {
  const { runId, seq, id, taskName, attempt } = TURN
  const handedOff: LoggedRunEvent = {
    runId,
    seq,
    id,
    taskName,
    attempt,
    type: 'delegation_started',
    delegationId: 'd-1',
    delegatingAgentRole: 'Triage',
    workerRole: 'Billing',
    taskDescription: 'Help',
    workerTask: 'write/Billing',
    workerTaskIndex: 2,
    depth: 1,
    handoff: true,
    startedAt: '2026-01-01T00:00:00.000Z',
  }
  expect(formatWithoutTime(handedOff)).toEqual(['write: hands off to Billing'])
})

describe('plainLines for a wait', () => {
  const requested: Extract<LoggedRunEvent, { type: 'review_requested' }> = {
    type: 'review_requested',
    runId: 'run-1',
    seq: 2,
    id: 'run-1:2',
    reviewId: 'review-1',
    taskName: 'order',
    taskIndex: 1,
    attempt: 1,
    agentRole: '',
    taskOutput: '',
    kind: 'EVENT',
    taskDescription: 'a sleep',
    timing: 'DURING_EXECUTION',
    prompt: 'a sleep',
    timeoutMs: 60_000,
    onTimeout: 'CONTINUE',
    requestedAt: '2026-01-01T00:00:05.000Z',
    waitsFor: [],
  }
  const timedOut: Extract<LoggedRunEvent, { type: 'review_timed_out' }> = {
    runId: 'run-1',
    seq: 3,
    id: 'run-1:3',
    reviewId: 'review-1',
    type: 'review_timed_out',
    action: 'CONTINUE',
  }

  it('plainLines shows the end of a sleep, and the time at which the task woke up', () => {
    const run = new RunStateFold()
    run.take({
      type: 'run_queued',
      queuedAt: '2026-01-01T00:00:00.000Z',
      ensemble: 'shop',
      workflow: 'PARALLEL',
      totalTasks: 1,
      inputs: {},
      tags: {},
    })
    run.take(requested)
    expect(plainLines(requested, run)).toEqual([
      '[0:05] order: sleeping until 2026-01-01T00:01:05.000Z',
    ])
    run.take(timedOut)
    expect(plainLines(timedOut, run)).toEqual(['[1:05] order: woke up'])
  })

  it('plainLines shows the event that a task waits for, how to deliver it, and its arrival', () => {
    const { timeoutMs: _, ...fields } = requested
    const waiting: LoggedRunEvent = {
      ...fields,
      timeoutMs: 0,
      waitsFor: [{ name: 'paid', key: 'o-1' }],
    }
    const run = new RunStateFold()
    run.take(waiting)
    const show = (event: LoggedRunEvent): readonly string[] =>
      plainLines(event, run).map((line) => line.replace(/^\[[^\]]*\] /, ''))
    expect(show(waiting)).toEqual([
      'order: waiting for event "paid" with key "o-1"',
      'order: deliver with: tutti deliver paid --key o-1',
    ])
    expect(
      show({
        ...timedOut,
        type: 'review_decided',
        decision: 'EDIT',
        decidedAt: '2026-01-01T00:00:06.000Z',
        event: { id: 'e-1', name: 'paid' },
      }),
    ).toEqual(['order: event "paid" arrived, e-1'])
  })
})
