import { describe, expect, it } from 'vitest'

import { foldChanges } from './fold-changes.ts'

import type { Change } from '../domain/change.ts'

const NEW_TASK: Change = {
  kind: 'new_task',
  task: { taskIndex: 1, name: 'search', description: 'Search', agentRole: 'Agent' },
}

describe('foldChanges', () => {
  it('foldChanges joins the changes of a run that starts and ends in one write', () => {
    const { run } = foldChanges([
      { kind: 'run', set: { status: 'RUNNING', startedAt: 1 } },
      { kind: 'run', set: {}, countTasks: true },
      { kind: 'run', set: {}, addCompletedTasks: 1 },
      { kind: 'run', set: {}, addCompletedTasks: 1 },
      { kind: 'run', set: { status: 'COMPLETED', durationMs: 5 } },
    ])
    expect(run).toEqual({
      kind: 'run',
      set: { status: 'COMPLETED', startedAt: 1, durationMs: 5 },
      countTasks: true,
      addCompletedTasks: 2,
    })
  })

  it('foldChanges leaves a run CANCELLING that starts after its cancel', () => {
    const { run } = foldChanges([
      { kind: 'run', set: { status: 'CANCELLING' } },
      { kind: 'run', set: { status: 'RUNNING', startedAt: 1 } },
    ])
    expect(run.set).toEqual({ status: 'CANCELLING', startedAt: 1 })
  })

  it('foldChanges joins the changes of each task and leaves those of other rows in order', () => {
    const ended: Change = { kind: 'review', reviewId: 'r', status: 'WITHDRAWN' }
    const { others, tasks } = foldChanges([
      NEW_TASK,
      { kind: 'task', taskIndex: 1, set: { status: 'RUNNING', attempt: 1 }, newAttempt: true },
      { kind: 'task', taskIndex: 2, set: { status: 'SKIPPED' } },
      { kind: 'task', taskIndex: 1, set: { inputTokens: 3 } },
      { kind: 'task', taskIndex: 1, set: { inputTokens: 4, status: 'COMPLETED' } },
      ended,
    ])
    expect(others).toEqual([NEW_TASK, ended])
    expect(tasks).toEqual([
      {
        kind: 'task',
        taskIndex: 1,
        set: { status: 'COMPLETED', attempt: 1, inputTokens: 4 },
        newAttempt: true,
      },
      { kind: 'task', taskIndex: 2, set: { status: 'SKIPPED' } },
    ])
  })

  it('foldChanges adds tool calls to a count only if they follow it', () => {
    const call: Change = { kind: 'task', taskIndex: 1, set: {}, addToolCalls: 1 }
    const counted: Change = { kind: 'task', taskIndex: 1, set: { toolCallCount: 7 } }
    expect(foldChanges([call, call]).tasks).toEqual([{ ...call, addToolCalls: 2 }])
    expect(foldChanges([call, counted]).tasks).toEqual([counted])
    expect(foldChanges([call, counted, call]).tasks).toEqual([
      { ...counted, set: { toolCallCount: 8 } },
    ])
  })

  it('foldChanges does not join two attempts of a task', () => {
    const begun: Change = { kind: 'task', taskIndex: 1, set: { attempt: 1 }, newAttempt: true }
    const again: Change = { kind: 'task', taskIndex: 1, set: { attempt: 2 }, newAttempt: true }
    const failed: Change = { kind: 'task', taskIndex: 1, set: { status: 'FAILED' } }
    expect(foldChanges([begun, failed, again]).tasks).toEqual([
      { ...begun, set: { attempt: 1, status: 'FAILED' } },
      again,
    ])
  })
})
