import { TuttiError } from '@tutti/core'
import { expect, it } from 'vitest'

import { endRun } from './end-run.ts'

import type { DurableJournal } from '../commit/group-commit.ts'
import type { RunRecord, TaskRecord } from '../domain/run-record.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { RunEvent } from '@tutti/protocol'

const NOW = Date.UTC(2026, 0, 1)

const RUN: RunRecord = {
  runId: 'run-a',
  ensemble: 'band',
  workflow: 'SEQUENTIAL',
  status: 'RUNNING',
  inputs: {},
  tags: {},
  taskCount: 3,
  completedTasks: 1,
  createdAt: NOW - 2_000,
  startedAt: NOW - 1_000,
  epoch: 2,
  lastSeq: 9,
}

function record(taskIndex: number, changes: Partial<TaskRecord>): TaskRecord {
  return {
    taskIndex,
    name: `task-${taskIndex}`,
    description: `Do ${taskIndex}`,
    agentRole: 'Worker',
    status: 'PENDING',
    attempt: 0,
    inputTokens: 0,
    outputTokens: 0,
    toolCallCount: 0,
    ...changes,
  }
}

/** Returns the events of the end of a run with these tasks. */
function written(
  tasks: readonly TaskRecord[],
  steps: readonly RunStep[] = [],
): readonly RunEvent[] {
  const events: RunEvent[] = []
  const journal: Pick<DurableJournal, 'emit'> = {
    emit: (event) => {
      events.push(event)
    },
  }
  const clock = { now: () => NOW, elapsed: () => 0, after: () => () => undefined }
  const error = new TuttiError('CONFIG_INVALID', 'Its tool is gone')
  // NOTE: the subject only calls `emit` of the journal.
  endRun({ run: RUN, steps }, { journal: journal as DurableJournal, clock, error, tasks })
  return events
}

const RETRIED: RunStep = {
  kind: 'task_failed',
  runMs: 0,
  taskMs: 0,
  taskName: 'task-2',
  attempt: 1,
  error: { code: 'MODEL_FAILED', message: 'Away', retryable: true },
  used: { inputTokens: 10, outputTokens: 4, toolCallCount: 1 },
  willRetry: true,
}

it('endRun ends unfinished tasks before the run', () => {
  const events = written([
    record(1, { status: 'COMPLETED', attempt: 1 }),
    record(2, { status: 'RUNNING', attempt: 1, startedAt: NOW - 300, inputTokens: 7 }),
    record(3, {}),
  ])
  expect(events.map(({ type }) => type)).toEqual([
    'task_failed',
    'task_skipped',
    'ensemble_completed',
    'run_result',
  ])
  expect(events[0]).toMatchObject({
    taskName: 'task-2',
    code: 'CONFIG_INVALID',
    reason: 'Its tool is gone',
    durationMs: 300,
    inputTokens: 7,
    willRetry: false,
  })
  expect(events[1]).toMatchObject({ taskName: 'task-3', reason: 'Its tool is gone' })
})

it('endRun subtracts the usage of earlier attempts from that of the last one', () => {
  const task = { status: 'RUNNING', attempt: 2, inputTokens: 15, outputTokens: -1 } as const
  const [failed] = written([record(2, { ...task, toolCallCount: 3 })], [RETRIED])
  expect(failed).toMatchObject({ inputTokens: 5, outputTokens: -1, toolCallCount: 2, attempt: 2 })
})

it('endRun ends the tasks of a cancelled run as cancelled', () => {
  const asked: RunStep = { kind: 'cancel_asked', runMs: 0, mode: 'abort', cause: 'SERVER' }
  const [failed] = written([record(1, { status: 'RUNNING', attempt: 1 })], [asked])
  expect(failed).toMatchObject({ code: 'CANCELLED', reason: 'The run was cancelled' })
})
