import { RunStateFold, type LoggedRunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { GroupedLines } from './grouped-lines.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const LOGGED = { runId: 'run-1', seq: 1, id: 'run-1:1', attempt: 1 } as const

function startOf(task: string): LoggedRunEvent {
  return {
    ...LOGGED,
    type: 'task_started',
    taskIndex: 2,
    totalTasks: 1,
    taskDescription: 'Write',
    agentRole: 'Writer',
    taskName: task,
    startedAt: TIME,
  }
}

function completionOf(task: string): LoggedRunEvent {
  return {
    ...LOGGED,
    type: 'task_completed',
    taskIndex: 2,
    totalTasks: 1,
    taskDescription: 'Write',
    agentRole: 'Writer',
    durationMs: 1_000,
    tokenCount: 0,
    toolCallCount: 0,
    completedAt: TIME,
    taskName: task,
    output: 'x',
    inputTokens: 0,
    outputTokens: 0,
    iterationLimitReached: false,
  }
}

function failureOf(task: string): LoggedRunEvent {
  return {
    ...LOGGED,
    type: 'task_failed',
    taskIndex: 2,
    taskDescription: 'Write',
    agentRole: 'Writer',
    reason: 'No paper',
    code: 'TASK_FAILED',
    durationMs: 1_000,
    failedAt: TIME,
    taskName: task,
    willRetry: false,
    inputTokens: 0,
    outputTokens: 0,
    toolCallCount: 0,
  }
}

/** Returns the events of a task of an item; every item in `failing` fails. */
function eventsOf(index: number, failing: (index: number) => boolean): readonly LoggedRunEvent[] {
  const delegation = {
    ...LOGGED,
    delegationId: `del-${index}`,
    delegatingAgentRole: 'Handler',
    workerRole: 'Writer',
    taskName: 'write',
    taskIndex: 1,
    workerTask: `write/${index}`,
  } as const
  const end: readonly LoggedRunEvent[] = failing(index)
    ? [
        failureOf(delegation.workerTask),
        { ...delegation, type: 'delegation_failed', reason: 'No paper', failedAt: TIME },
      ]
    : [
        completionOf(delegation.workerTask),
        { ...delegation, type: 'delegation_completed', durationMs: 1_000, completedAt: TIME },
      ]
  return [
    {
      ...delegation,
      type: 'delegation_started',
      taskDescription: 'Write',
      workerTaskIndex: index + 2,
      depth: 1,
      startedAt: TIME,
    },
    startOf(delegation.workerTask),
    ...end,
  ]
}

function linesOf(count: number, failing: (index: number) => boolean = () => false) {
  const grouped = new GroupedLines()
  const events = [
    ...Array.from({ length: count }, (_, index) => eventsOf(index, failing)).flat(),
    completionOf('write'),
  ]
  return events
    .flatMap((event) => grouped.lines(event, new RunStateFold()))
    .map((line) => line.replace(/^\[[^\]]*\] /, ''))
}

describe('[SERVER-V3] GroupedLines', () => {
  it('GroupedLines shows each task of a small group, with two lines', () => {
    expect(linesOf(2, (index) => index === 1)).toEqual([
      'write: delegates to Writer: Write',
      'write/0: completed in 1.0 s',
      'write: delegates to Writer: Write',
      'write/1: failed after 1.0 s: No paper',
      'write: completed in 1.0 s',
    ])
  })

  it('GroupedLines counts the tasks of a large group, and shows up to 20 of their failures', () => {
    const lines = linesOf(250, (index) => index % 2 === 1)
    const listed = lines.slice(0, 40)
    expect(listed.filter((line) => line.startsWith('write: delegates'))).toHaveLength(20)
    expect(lines.slice(40)).toEqual([
      ...Array.from(
        { length: 20 },
        (_, at) => `write/${21 + 2 * at}: failed after 1.0 s: No paper`,
      ),
      'write: 50 tasks completed, 50 tasks failed',
      'write: 100 tasks completed, 100 tasks failed',
      'write: 125 tasks completed, 125 tasks failed',
      'write: completed in 1.0 s',
    ])
  })

  it('GroupedLines shows a task that begins again', () => {
    const grouped = new GroupedLines()
    const lines = [...eventsOf(0, () => false), { ...startOf('write'), attempt: 2 }].flatMap(
      (event) => grouped.lines(event, new RunStateFold()),
    )
    expect(lines.at(-1)).toContain('write: started, attempt 2')
  })
})
