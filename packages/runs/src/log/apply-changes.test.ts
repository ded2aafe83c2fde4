import { describe, expect, it } from 'vitest'

import { applyChange, type Records } from './apply-changes.ts'

import type { Change } from '../domain/change.ts'
import type { RunRecord } from '../domain/run-record.ts'

const RUN: RunRecord = {
  runId: 'run-a',
  ensemble: 'band',
  workflow: 'SEQUENTIAL',
  status: 'ACCEPTED',
  inputs: {},
  tags: {},
  taskCount: 0,
  completedTasks: 0,
  createdAt: 0,
  epoch: 1,
  lastSeq: 0,
}

const NEW_TASK: Change = {
  kind: 'new_task',
  task: { taskIndex: 1, name: 'task-1', description: 'Play', agentRole: 'Player' },
}

function apply(...changes: readonly Change[]): Records {
  const records: Records = {
    run: RUN,
    setsStatus: false,
    tasks: new Map(),
    newReviews: new Map(),
    endedReviews: new Map(),
  }
  for (const change of changes) applyChange(records, change)
  return records
}

describe('applyChange', () => {
  it('[RUNS-W4] applyChange leaves a run CANCELLING that starts after its cancel', () => {
    const { run } = apply(
      { kind: 'run', set: { status: 'CANCELLING' } },
      { kind: 'run', set: { status: 'RUNNING', startedAt: 5 } },
    )
    expect([run.status, run.startedAt]).toEqual(['CANCELLING', 5])
  })

  it('applyChange counts the tasks that exist, each once', () => {
    const { run, tasks } = apply(NEW_TASK, NEW_TASK, {
      kind: 'run',
      set: {},
      countTasks: true,
      addCompletedTasks: 2,
    })
    expect([run.taskCount, run.completedTasks, tasks.size]).toEqual([1, 2, 1])
  })

  it('applyChange adds tool calls to a count only if they follow it', () => {
    const call: Change = { kind: 'task', taskIndex: 1, set: {}, addToolCalls: 1 }
    const counted: Change = { kind: 'task', taskIndex: 1, set: { toolCallCount: 7 } }
    const count = (...changes: readonly Change[]) =>
      apply(NEW_TASK, ...changes).tasks.get(1)?.toolCallCount
    expect([count(call, call), count(call, counted), count(call, counted, call)]).toEqual([2, 7, 8])
  })

  it('applyChange adds the usage of an attempt to that of earlier ones; an unknown one stays unknown', () => {
    const again: Change = { kind: 'task', taskIndex: 1, set: { attempt: 2 }, newAttempt: true }
    const used = { inputTokens: 3, outputTokens: -1, toolCallCount: 1, costUsd: null }
    const { tasks } = apply(NEW_TASK, { kind: 'task', taskIndex: 1, set: used }, again, {
      kind: 'task',
      taskIndex: 1,
      set: { inputTokens: 4, output: null },
    })
    expect(tasks.get(1)).toMatchObject({
      attempt: 2,
      inputTokens: 4,
      outputTokens: 0,
      costUsd: 0,
      earlierInputTokens: 3,
      earlierOutputTokens: -1,
      earlierToolCallCount: 1,
      earlierCostUsd: null,
      output: null,
    })
  })

  it('applyChange closes a review once', () => {
    const { endedReviews } = apply(
      { kind: 'review', reviewId: 'review-a', status: 'DECIDED', decidedBy: 'ann' },
      { kind: 'review', reviewId: 'review-a', status: 'TIMED_OUT' },
    )
    expect([...endedReviews.values()]).toEqual([{ status: 'DECIDED', decidedBy: 'ann' }])
  })
})
