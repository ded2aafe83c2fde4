import { describe, expect, it } from 'vitest'

import { toRecordChanges } from './changes.ts'
import { token } from '../testing/index.ts'

import type { RunEvent, RunEventOf } from '@tutti/protocol'

const AT = '2026-01-01T00:00:01.500Z'

const AT_MS = Date.parse(AT)

const TASK = {
  taskIndex: 2,
  taskName: 'play',
  taskDescription: 'Play Bach',
  agentRole: 'Player',
  attempt: 1,
}

const USED = { inputTokens: 20, outputTokens: 10, toolCallCount: 3 }

const REQUESTED: RunEventOf<'review_requested'> = {
  type: 'review_requested',
  reviewId: 'review-1',
  ...TASK,
  taskOutput: 'draft',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  prompt: null,
  timeoutMs: 60_000,
  onTimeout: 'CONTINUE',
  requestedAt: AT,
}

const CALLED: RunEventOf<'tool_called'> = {
  type: 'tool_called',
  ...TASK,
  toolName: 'tune',
  durationMs: 1,
  outcome: 'SUCCESS',
  toolArguments: '{}',
  toolResult: 'done',
  structuredResult: null,
  iterationIndex: 0,
  toolCallId: 'call-1',
}

const COMPLETED: RunEventOf<'task_completed'> = {
  type: 'task_completed',
  ...TASK,
  totalTasks: 2,
  completedAt: AT,
  durationMs: 7,
  tokenCount: 30,
  ...USED,
  output: 'played',
  iterationLimitReached: false,
  costUsd: 0.5,
}

const FAILED: RunEventOf<'task_attempt_failed'> = {
  type: 'task_attempt_failed',
  ...TASK,
  failedAt: AT,
  reason: 'it broke',
  durationMs: 3,
  code: 'TASK_FAILED',
  ...USED,
  willRetry: true,
}

describe('toRecordChanges, of a run', () => {
  it('[RUNS-C1] toRecordChanges makes a started run RUNNING, with the tasks of its plan in order', () => {
    const planned = (name: string, agentRole: string) => ({
      name,
      description: `To ${name}`,
      agentRole,
      context: [],
    })
    const changes = toRecordChanges({
      type: 'ensemble_started',
      ensembleId: 'e',
      startedAt: AT,
      totalTasks: 2,
      workflow: 'SEQUENTIAL',
      ensemble: 'band',
      tasks: [planned('tune', 'Tuner'), planned('play', 'Player')],
      outputTask: 'play',
    })
    expect(changes).toEqual([
      { kind: 'run', set: { status: 'RUNNING', startedAt: AT_MS, outputTask: 'play' } },
      {
        kind: 'new_task',
        task: { taskIndex: 1, name: 'tune', description: 'To tune', agentRole: 'Tuner' },
      },
      {
        kind: 'new_task',
        task: { taskIndex: 2, name: 'play', description: 'To play', agentRole: 'Player' },
      },
      { kind: 'run', set: {}, countTasks: true },
    ])
  })

  it('[RUNS-C1] toRecordChanges makes a run with a cancel CANCELLING', () => {
    const changes = toRecordChanges({
      type: 'run_cancelling',
      requestedAt: AT,
      mode: 'boundary',
      cause: 'SERVER',
    })
    expect(changes).toEqual([{ kind: 'run', set: { status: 'CANCELLING' } }])
  })

  it('[RUNS-C4] toRecordChanges retains the status of a resumed run', () => {
    expect(
      toRecordChanges({
        type: 'run_resumed',
        resumedAt: AT,
        epoch: 2,
        completedTasks: ['tune'],
        outputTask: 'sing',
      }),
    ).toEqual([{ kind: 'run', set: { outputTask: 'sing' } }])
  })

  it('[RUNS-C1] toRecordChanges takes the end of a run and its status from two events', () => {
    const metrics = { totalTokens: 1, totalToolCalls: 2 }
    expect(
      toRecordChanges({
        type: 'ensemble_completed',
        ensembleId: 'e',
        completedAt: AT,
        durationMs: 9,
        exitReason: 'COMPLETED',
        ...metrics,
      }),
    ).toEqual([{ kind: 'run', set: { completedAt: AT_MS } }])
    const ended: RunEventOf<'run_result'> = {
      type: 'run_result',
      runId: 'run-a',
      status: 'COMPLETED',
      outputs: [],
      durationMs: 12,
      metrics,
    }
    expect(toRecordChanges(ended)).toEqual([
      { kind: 'run', set: { status: 'COMPLETED', durationMs: 12 } },
    ])
    expect(toRecordChanges({ ...ended, status: 'FAILED', error: 'it broke', code: 'X' })).toEqual([
      { kind: 'run', set: { status: 'FAILED', durationMs: 12, error: 'it broke' } },
    ])
  })

  it('[RUNS-C1] toRecordChanges ignores most events', () => {
    const events: readonly RunEvent[] = [
      token('x'),
      {
        type: 'run_queued',
        queuedAt: AT,
        ensemble: 'band',
        workflow: 'SEQUENTIAL',
        totalTasks: 1,
        inputs: {},
        tags: {},
      },
      { type: 'directive_active', directiveId: 'd-1' },
    ]
    expect(events.map(toRecordChanges)).toEqual([[], [], []])
  })
})

describe('toRecordChanges, of a task', () => {
  it('[RUNS-C2] toRecordChanges clears the end of the earlier attempt when a new attempt starts', () => {
    const changes = toRecordChanges({
      type: 'task_started',
      ...TASK,
      attempt: 2,
      totalTasks: 2,
      startedAt: AT,
    })
    expect(changes).toEqual([
      {
        kind: 'task',
        taskIndex: 2,
        newAttempt: true,
        set: {
          status: 'RUNNING',
          description: 'Play Bach',
          attempt: 2,
          startedAt: AT_MS,
          completedAt: null,
          durationMs: null,
          error: null,
          finishReason: null,
        },
      },
    ])
  })

  it('[RUNS-C2] toRecordChanges replaces the usage of the current attempt', () => {
    const snapshot: RunEventOf<'metrics_snapshot'> = {
      type: 'metrics_snapshot',
      ...TASK,
      inputTokens: 20,
      outputTokens: -1,
      llmLatencyMs: 1,
      toolExecutionTimeMs: 1,
      iterationCount: 1,
      costEstimate: '0.25',
    }
    const set = { inputTokens: 20, outputTokens: -1, costUsd: 0.25 }
    expect(toRecordChanges(snapshot)).toEqual([{ kind: 'task', taskIndex: 2, set }])
    const { costEstimate: _, ...unknown } = snapshot
    expect(toRecordChanges(unknown)).toEqual([
      { kind: 'task', taskIndex: 2, set: { ...set, costUsd: null } },
    ])
  })

  it('[RUNS-C2] toRecordChanges counts a tool call once, and not its nested calls', () => {
    expect(toRecordChanges(CALLED)).toEqual([
      { kind: 'task', taskIndex: 2, set: {}, addToolCalls: 1 },
    ])
    expect(toRecordChanges({ ...CALLED, parentToolCallId: 'call-0' })).toEqual([])
  })

  it('[RUNS-C2] toRecordChanges sets usage and output at the end of an attempt', () => {
    const set = {
      status: 'COMPLETED',
      completedAt: AT_MS,
      durationMs: 7,
      ...USED,
      costUsd: 0.5,
      output: 'played',
    }
    const counted = { kind: 'run', set: {}, addCompletedTasks: 1 }
    expect(toRecordChanges(COMPLETED)).toEqual([{ kind: 'task', taskIndex: 2, set }, counted])
    const { costUsd: _, ...unknown } = COMPLETED
    expect(toRecordChanges(unknown)).toEqual([
      { kind: 'task', taskIndex: 2, set: { ...set, costUsd: null } },
      counted,
    ])
  })

  it('[RUNS-C2] toRecordChanges sets the error of a failed task, and makes a cancelled one CANCELLED', () => {
    const set = { completedAt: AT_MS, durationMs: 3, ...USED, costUsd: null, error: 'it broke' }
    expect(toRecordChanges(FAILED)).toEqual([
      { kind: 'task', taskIndex: 2, set: { ...set, status: 'FAILED' } },
    ])
    const final = { ...FAILED, type: 'task_failed', willRetry: false } as const
    expect(toRecordChanges({ ...final, code: 'CANCELLED' })).toEqual([
      { kind: 'task', taskIndex: 2, set: { ...set, status: 'CANCELLED' } },
    ])
  })

  it('toRecordChanges makes a task that will not run SKIPPED, with the reason', () => {
    const { taskIndex, taskName, taskDescription } = TASK
    const skipped = { taskIndex, taskName, taskDescription, skippedAt: AT, reason: 'too late' }
    expect(toRecordChanges({ type: 'task_skipped', ...skipped })).toEqual([
      { kind: 'task', taskIndex: 2, set: { status: 'SKIPPED', error: 'too late' } },
    ])
  })

  it('[RUNS-C3] toRecordChanges adds the task of a delegation, which the run counts', () => {
    const changes = toRecordChanges({
      type: 'delegation_started',
      delegationId: 'd-1',
      delegatingAgentRole: 'Manager',
      workerRole: 'Player',
      ...TASK,
      taskDescription: 'Play it again',
      workerTask: 'play#2',
      workerTaskIndex: 4,
      depth: 1,
    })
    expect(changes).toEqual([
      {
        kind: 'new_task',
        task: { taskIndex: 4, name: 'play#2', description: 'Play it again', agentRole: 'Player' },
      },
      { kind: 'run', set: {}, countTasks: true },
    ])
  })
})

describe('toRecordChanges, of a review', () => {
  it('[RUNS-C5] toRecordChanges opens a review with its request, without changing the status of the run', () => {
    expect(toRecordChanges(REQUESTED)).toEqual([
      {
        kind: 'new_review',
        review: {
          reviewId: 'review-1',
          request: REQUESTED,
          openedAt: AT_MS,
          expiresAt: AT_MS + 60_000,
        },
      },
    ])
  })

  it('[RUNS-C5] toRecordChanges sets no expiry for a review with a timeout of 0', () => {
    const request = { ...REQUESTED, timeoutMs: 0 }
    expect(toRecordChanges(request)).toEqual([
      { kind: 'new_review', review: { reviewId: 'review-1', request, openedAt: AT_MS } },
    ])
  })

  it.each<[RunEvent, object]>([
    [
      { type: 'review_decided', reviewId: 'review-1', decision: 'CONTINUE', decidedAt: AT },
      { status: 'DECIDED' },
    ],
    [
      {
        type: 'review_decided',
        reviewId: 'review-1',
        decision: 'REJECT',
        decidedAt: AT,
        decidedBy: 'ada',
      },
      { status: 'DECIDED', decidedBy: 'ada' },
    ],
    [
      { type: 'review_timed_out', reviewId: 'review-1', action: 'CONTINUE' },
      { status: 'TIMED_OUT' },
    ],
    [
      { type: 'review_withdrawn', reviewId: 'review-1', reason: 'over', withdrawnAt: AT },
      { status: 'WITHDRAWN' },
    ],
  ])('[RUNS-C5] toRecordChanges closes a review with %j', (event, end) => {
    expect(toRecordChanges(event)).toEqual([{ kind: 'review', reviewId: 'review-1', ...end }])
  })
})
