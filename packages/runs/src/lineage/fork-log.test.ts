import { readFileSync } from 'node:fs'

import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { ownedRecord } from '../../test/claimed.ts'
import { fakeStorage } from '../../test/fake-storage.ts'
import {
  AT,
  AT_MS,
  completed,
  started,
  taskFields,
  taskStarted,
} from '../testing/support/event-fixtures.ts'
import { readForkedLog, type ForkSource } from './fork-log.ts'

import type { RunStep } from '@tutti/ensemble/internal'
import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'
import type { ForkPlace } from '../request/new-run.ts'

const BEGUN: RunStep = { kind: 'run_begun', startedAt: AT_MS, runMs: 0, tasks: [] }

const QUEUED: RunEvent = {
  type: 'run_queued',
  queuedAt: AT,
  ensemble: 'band',
  workflow: 'SEQUENTIAL',
  totalTasks: 2,
  inputs: {},
  tags: {},
}

const REVIEWED: RunEventOf<'review_requested'> = {
  type: 'review_requested',
  reviewId: 'review-1',
  ...taskFields(1),
  taskOutput: 'draft',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  prompt: null,
  timeoutMs: 60_000,
  onTimeout: 'CONTINUE',
  requestedAt: AT,
}

describe('readForkedLog', () => {
  it('[RUNS-E1] A review that is open at the event is open in the fork, under a new id', async () => {
    const { fork } = await read([QUEUED, started, REVIEWED])
    const reviewId = fork.reviewIds.get('review-1')
    expect(reviewId).toMatch(/^review-(?!1$)/)
    expect(fork.changes.at(-1)).toMatchObject({
      kind: 'new_review',
      review: { reviewId, request: { reviewId, taskOutput: 'draft' } },
    })
  })

  it.each<[string, RunEvent, string]>([
    [
      'was decided',
      { type: 'review_decided', reviewId: 'review-1', decision: 'CONTINUE', decidedAt: AT },
      'DECIDED',
    ],
    [
      'timed out',
      { type: 'review_timed_out', reviewId: 'review-1', action: 'CONTINUE' },
      'TIMED_OUT',
    ],
    [
      'was withdrawn',
      { type: 'review_withdrawn', reviewId: 'review-1', reason: 'over', withdrawnAt: AT },
      'WITHDRAWN',
    ],
  ])(
    '[RUNS-E1] A review that %s before the event is closed in the fork',
    async (_, end, status) => {
      const { fork } = await read([QUEUED, started, REVIEWED, end])
      expect([...fork.reviewIds]).toEqual([])
      expect(fork.changes.at(-1)).toMatchObject({ kind: 'review', reviewId: 'review-1', status })
    },
  )

  it('[RUNS-E3] readForkedLog retains the results of the parent, without its usage, and gives the fork its own start', async () => {
    const { fork } = await read([QUEUED, started, taskStarted(1), completed])
    const ends = fork.changes.filter((change) => change.kind === 'task')
    expect(ends.at(-1)?.set).toEqual({
      status: 'COMPLETED',
      completedAt: AT_MS,
      durationMs: 7,
      output: 'first output',
    })
    expect(fork.changes[0]).toMatchObject({ set: { status: 'RUNNING', startedAt: NOW } })
    expect(fork).toMatchObject({
      parent: { runId: 'run-a', at: 3 },
      events: [{ type: 'run_forked', parentRunId: 'run-a', at: 3 }],
      steps: [{ kind: 'run_forked', runMs: 0, startedAt: NOW }],
    })
  })

  it.each([
    'delegation-started',
    'run-cancelling',
    'run-resumed',
    'task-attempt-failed',
    'task-completed',
    'task-failed',
    'task-skipped',
    'task-started',
  ])('[RUNS-E1] readForkedLog applies what the event %s changes', async (name) => {
    const base = await read([QUEUED, started])
    const { fork } = await read([QUEUED, started, readGolden(name)])
    expect(fork.changes.length).toBeGreaterThan(base.fork.changes.length)
  })

  it('[RUNS-E2] readForkedLog refuses a fork after the end of the work, where it has no place', async () => {
    const log = [QUEUED, started, readGolden('ensemble-completed')]
    await expect(read(log)).rejects.toThrow('The work of run run-a ended with event 2')
    expect((await read(log, { at: 1 })).fork.parent.at).toBe(1)
  })

  it('readForkedLog refuses a fork before a task that has not begun, and says which have', async () => {
    const place = { task: 'taks-1' }
    const log = [QUEUED, started, taskStarted(1)]
    await expect(read(log, { at: place })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message:
        'Invalid start of a fork: Task "taks-1" has not begun in run run-a (begun: task-1). Did you mean "task-1"?',
      details: { problems: [{ path: '/at' }] },
    })
    await expect(read([QUEUED], { at: { task: 'other' } })).rejects.toThrow('(begun: none has)')
  })

  it('readForkedLog reads every event of a log that is longer than a page', async () => {
    const resumed = Array.from({ length: 1_200 }, () => taskStarted(1))
    const { fork } = await read([QUEUED, started, ...resumed])
    expect(fork.changes.filter(({ kind }) => kind === 'task')).toHaveLength(1_200)
  })

  it('readForkedLog begins at the last event, and at no later one', async () => {
    const { fork } = await read([QUEUED, started, taskStarted(1)], { at: 2 })
    expect(fork.parent.at).toBe(2)
    const later = read([QUEUED, started, taskStarted(1)], { at: 3 })
    await expect(later).rejects.toThrow('Run run-a has the events 0 to 2, got 3')
  })

  it('readForkedLog begins right before the first event of a task', async () => {
    const log = [QUEUED, started, taskStarted(1), completed, taskStarted(2)]
    const { fork } = await read(log, { at: { task: 'task-2' } })
    expect(fork.parent.at).toBe(3)
  })

  it('[RUNS-P17] A fork is refused when the steps that it copies, or those after them, were deleted', async () => {
    const log = [QUEUED, started, taskStarted(1)]
    const refused = { code: 'STEPS_NOT_RETAINED' }
    await expect(read(log, { copied: [], steps: [] })).rejects.toMatchObject(refused)
    await expect(read(log, { copied: [], steps: [BEGUN] })).rejects.toMatchObject(refused)
    await expect(read(log, { at: 0, copied: [], steps: [] })).rejects.toMatchObject(refused)
  })

  it('readForkedLog returns the steps after the event apart from those that it copies', async () => {
    const later: RunStep = { kind: 'cancel_asked', mode: 'abort', cause: 'SERVER', runMs: 1 }
    const log = [QUEUED, started, taskStarted(1)]
    const source = await read(log, { copied: [BEGUN], steps: [BEGUN, later] })
    expect([source.copied, source.rest, source.fork.copiedSteps]).toEqual([[BEGUN], [later], 1])
  })

  it('readForkedLog needs no steps before the run has begun', async () => {
    const { copied, rest } = await read([QUEUED, started], { at: 0, copied: [], steps: [BEGUN] })
    expect([copied, rest]).toEqual([[], [BEGUN]])
    const waiting = await read([QUEUED], { copied: [], steps: [] })
    expect(waiting.fork.changes).toEqual([])
  })
})

/** The time of the fork. */
const NOW = Date.UTC(2026, 5, 1)

interface Given {
  /** @default the last event */
  readonly at?: ForkPlace
  /** Steps up to the start of the fork. */
  readonly copied?: readonly RunStep[]
  /** All steps. */
  readonly steps?: readonly RunStep[]
}

/** Reads a fork of a run with this log; each step of the parent belongs to the part that is copied. */
function read(
  log: readonly RunEvent[],
  { at = log.length - 1, copied = [BEGUN], steps = copied }: Given = {},
): Promise<ForkSource> {
  const logged = log.map((event, seq): LoggedRunEvent => ({
    ...event,
    seq,
    id: `run-a:${seq}`,
    runId: 'run-a',
  }))
  const hasBegun = log.includes(started)
  const parent = ownedRecord('run-a', {
    lastSeq: log.length - 1,
    ...(hasBegun ? { startedAt: AT_MS } : {}),
  })
  const storage = fakeStorage({
    events: {
      read: async ({ from, limit, types }) => {
        const found = logged.filter(
          ({ seq, type }) => seq >= from && types?.includes(type) !== false,
        )
        return { events: found.slice(0, limit), lastSeq: parent.lastSeq }
      },
    },
    runs: { steps: async (_, query) => (query?.upTo === undefined ? steps : copied) },
  })
  return readForkedLog(storage, fakeClock(NOW), { parent, at, maxStepBytes: Infinity })
}

/** Reads an event from its golden file. */
function readGolden(name: string): RunEvent {
  const path = `../../../protocol/fixtures/valid/RunEvent.${name}.json`
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}
