/** Cases of RUNS-P17: the log of a fork. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'

import {
  completed,
  queued,
  result,
  reviewRequested,
  started,
  step,
  token,
} from '../support/event-fixtures.ts'
import { claimRun, newRun, ownedRun, readAll, readRecord } from '../support/run-fixtures.ts'
import { toRecordChanges } from '../../log/changes.ts'

import type { CreatedRun, ForkedLog } from '../../ports/run-store.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { RunEvent } from '@tutti/protocol'
import type { StorageCase } from '../support/storage-case.ts'

const AT = '2026-01-01T00:00:00.000Z'

export const forkCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P17] A fork begins with the events and steps of its parent up to an event, and continues',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([{ ...started, ensembleId: 'run-a' }], { steps: [step(1)] })
      await owner.commit([completed], { steps: [step(2)] })
      await owner.commit([token('late'), result('run-a')], { steps: [step(3)] })
      const before = await readAll(storage, 'run-a')
      strictEqual((await fork(storage, 2, [started, completed])).kind, 'created')
      deepStrictEqual(await readAll(storage, 'run-a'), before)
      const events = await readAll(storage, 'run-b')
      deepStrictEqual(
        events.map(({ type, seq, runId }) => [type, seq, runId]),
        [
          ['run_queued', 0, 'run-b'],
          ['ensemble_started', 1, 'run-b'],
          ['task_completed', 2, 'run-b'],
          ['run_forked', 3, 'run-b'],
        ],
      )
      const position = { runId: 'run-b', seq: 1, id: 'run-b:1' }
      deepStrictEqual(events[1], { ...started, ensembleId: 'run-b', ...position })
      const forked = { kind: 'run_forked', runMs: 0, startedAt: 0 }
      deepStrictEqual(await storage.runs.steps('run-b'), [step(1), step(2), forked])
      const run = await readRecord(storage, 'run-b')
      deepStrictEqual([run.status, run.lastSeq, run.parent], ['RUNNING', 3, PARENT(2)])
      deepStrictEqual(
        (await storage.runs.tasks('run-b')).map(({ status }) => status),
        (await storage.runs.tasks('run-a')).map(({ status }) => status),
      )
      const next = await claimRun(storage, 'run-b')
      await next.commit([token('own'), result('run-b')], { steps: [step(4)] })
      deepStrictEqual((await readAll(storage, 'run-b')).length, 6)
      deepStrictEqual((await storage.runs.steps('run-b')).at(-1), step(4))
      const { runs } = await storage.runs.list({ limit: 1 })
      deepStrictEqual(runs[0]?.parent, PARENT(2))
    },
  },
  {
    name: '[RUNS-P17] An open review of the parent is open in the fork under a new id',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const opened = reviewRequested('review-old')
      await owner.commit([started, opened], { steps: [step(1)] })
      const renamed = reviewRequested('review-new')
      const reviewIds = new Map([['review-old', 'review-new']])
      await fork(storage, 2, [started, renamed], { reviewIds, copiedSteps: 1 })
      const open = await storage.runs.reviews({ open: true })
      deepStrictEqual(
        open.map(({ reviewId, runId }) => [reviewId, runId]),
        [
          ['review-old', 'run-a'],
          ['review-new', 'run-b'],
        ],
      )
      deepStrictEqual(open[1]?.request, renamed)
      const { id: _, runId: __, seq: ___, ...copied } = (await readAll(storage, 'run-b'))[2] ?? {}
      deepStrictEqual(copied, renamed)
    },
  },
  {
    name: '[RUNS-P17] A fork is refused if its parent has fewer steps or events than it was planned with',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([{ ...started, ensembleId: 'run-a' }], { steps: [step(1)] })
      await owner.commit([completed], { steps: [step(2)] })
      await owner.commit([result('run-a')])
      for (const [at, copiedSteps] of [
        [2, 3],
        [9, 2],
      ] as const) {
        await rejects(fork(storage, at, [started, completed], { copiedSteps }), {
          code: 'STEPS_NOT_RETAINED',
        })
      }
      strictEqual(await storage.runs.get('run-b'), undefined)
      strictEqual((await fork(storage, 2, [started, completed])).kind, 'created')
    },
  },
  {
    name: '[RUNS-P17] [RUNS-P18] A fork is refused while the steps of its parent are being deleted',
    async run({ storage, passTime }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([{ ...started, ensembleId: 'run-a' }], { steps: [step(1)] })
      await owner.commit([completed], { steps: [step(2)] })
      await owner.commit([result('run-a')])
      await passTime(10_000)
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1), step(2)])
      strictEqual(await storage.runs.deleteSteps({ maxAgeMs: 1000, limit: 1 }), true)
      deepStrictEqual(await storage.runs.steps('run-a'), [])
      await rejects(fork(storage, 2, [started, completed]), { code: 'STEPS_NOT_RETAINED' })
      strictEqual(await storage.runs.get('run-b'), undefined)
    },
  },
  {
    name: '[RUNS-P17] A fork of an unknown run is not created',
    async run({ storage }) {
      await rejects(fork(storage, 1, []), { code: 'RUN_NOT_FOUND' })
      strictEqual(await storage.runs.get('run-b'), undefined)
    },
  },
]

const PARENT = (at: number) => ({ runId: 'run-a', at })

/** Forks run `run-a` as `run-b` after event `at`; `copied` are the copied events that change records. */
function fork(
  storage: RunStorage,
  at: number,
  copied: readonly RunEvent[],
  {
    reviewIds = new Map(),
    copiedSteps = at,
  }: Partial<Pick<ForkedLog, 'reviewIds' | 'copiedSteps'>> = {},
): Promise<CreatedRun> {
  const run = newRun('run-b')
  return storage.runs.create(run, {
    firstEvent: queued(run),
    maxUnfinishedRuns: 1000,
    fork: {
      parent: PARENT(at),
      changes: copied.flatMap(toRecordChanges),
      copiedSteps,
      reviewIds,
      events: [{ type: 'run_forked', forkedAt: AT, parentRunId: 'run-a', at }],
      steps: [{ kind: 'run_forked', runMs: 0, startedAt: 0 }],
    },
  })
}
