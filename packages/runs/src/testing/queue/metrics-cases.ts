/** Cases of RUNS-L10: the counts of everything that waits in a store. */
import { deepStrictEqual, ok } from 'node:assert/strict'

import { cancelling, result, reviewRequested, started } from '../support/event-fixtures.ts'
import {
  claimRun,
  createRun,
  endedRun,
  newUnownedWrite,
  ownedRun,
  parkedRun,
  readUnowned,
} from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { StoreMetrics } from '../../ports/run-queue.ts'
import type { StorageCase } from '../support/storage-case.ts'

export const metricsCases: readonly StorageCase[] = [
  {
    name: '[RUNS-L10] The counts of an empty store are 0',
    async run({ storage }) {
      deepStrictEqual(await countWaiting(storage), {
        running: 0,
        queued: 0,
        waiting: 0,
        parked: 0,
        unfinished: {},
        oldestQueuedMs: 0,
        openReviews: 0,
        deliveries: 0,
      })
    },
  },
  {
    name: '[RUNS-L10] Unfinished runs are counted by state and status, and open reviews and deliveries in total',
    async run({ storage }) {
      await createRun(storage, 'run-a', { createdAt: Date.now() })
      await createRun(storage, 'run-b', { createdAt: Date.now() })
      const owner = await ownedRun(storage, 'run-c')
      await owner.commit([started])
      await parkedRun(storage, 'run-d', { events: [reviewRequested('review-1')] })
      await parkedRun(storage, 'run-f', { events: [reviewRequested('wait', { kind: 'EVENT' })] })
      await endedRun(storage, 'run-e', { webhooks: ['hook', 'other'] })
      const { oldestQueuedMs, ...counts } = await countWaiting(storage)
      ok(oldestQueuedMs >= 0, `${oldestQueuedMs} is a wait`)
      deepStrictEqual(counts, {
        running: 1,
        queued: 2,
        waiting: 0,
        parked: 2,
        unfinished: { ACCEPTED: 2, RUNNING: 1, WAITING_REVIEW: 1, WAITING: 1 },
        openReviews: 2,
        deliveries: 2,
      })
    },
  },
  {
    name: '[RUNS-L10] The counts follow parked runs and their reviews through cancels, holds, claims and ends',
    async run({ storage }) {
      const counts = async () => {
        const { parked, unfinished, openReviews } = await storage.queue.metrics()
        const ofKind = await storage.runs.countReviews({ open: true, kinds: ['TASK_OUTPUT'] })
        deepStrictEqual((await storage.queue.load()).parked, parked)
        deepStrictEqual(await storage.runs.countReviews({ open: true }), openReviews)
        return { parked, unfinished, openReviews, ofKind }
      }
      await createRun(storage, 'run-later', { startAt: Date.now() + 1e9 })
      for (const runId of ['run-a', 'run-b', 'run-c']) {
        await parkedRun(storage, runId, { events: [reviewRequested(`review-${runId}`)] })
      }
      deepStrictEqual(await counts(), {
        parked: 4,
        unfinished: { ACCEPTED: 1, WAITING_REVIEW: 3 },
        openReviews: 3,
        ofKind: 3,
      })
      await storage.builds.hold(await readUnowned(storage, 'run-a'))
      const cancelled = newUnownedWrite(await readUnowned(storage, 'run-b'), 'stay', {
        events: [cancelling],
      })
      deepStrictEqual((await storage.runs.commitUnowned(cancelled)).kind, 'written')
      deepStrictEqual(await counts(), {
        parked: 4,
        unfinished: { ACCEPTED: 1, WAITING_FOR_BUILD: 1, CANCELLING: 1, WAITING_REVIEW: 1 },
        openReviews: 3,
        ofKind: 3,
      })
      await (await claimRun(storage, 'run-later')).commit([result('run-later')])
      await (await claimRun(storage, 'run-b')).commit([result('run-b', { status: 'CANCELLED' })])
      await claimRun(storage, 'run-c')
      deepStrictEqual(await counts(), {
        parked: 1,
        unfinished: { WAITING_FOR_BUILD: 1, RUNNING: 1 },
        openReviews: 2,
        ofKind: 2,
      })
    },
  },
  {
    name: '[RUNS-L10] A finished delivery is not counted; one that will be retried is',
    async run({ storage }) {
      await endedRun(storage, 'run-a', { webhooks: ['done', 'gone', 'again'] })
      const claimed = await storage.outbox.claim({ limit: 9, claimMs: 10_000 })
      for (const { id, attempt, webhook } of claimed) {
        const end =
          webhook === 'done'
            ? ({ kind: 'done' } as const)
            : webhook === 'gone'
              ? ({ kind: 'given_up', reason: 'It answered 410' } as const)
              : ({ kind: 'retry', dueInMs: 1e6, reason: 'It answered 500' } as const)
        await storage.outbox.settle({ id, attempt }, end)
      }
      deepStrictEqual((await storage.queue.metrics()).deliveries, 1)
    },
  },
  {
    name: '[RUNS-L10] The waiting time is that of the oldest ready run; a reclaimed run waits since its creation',
    async run({ storage, passTime }) {
      const waited = async (): Promise<number> => (await storage.queue.metrics()).oldestQueuedMs
      await createRun(storage, 'run-a')
      await passTime(5_000)
      ok((await waited()) >= 5_000)
      await claimRun(storage, 'run-a')
      deepStrictEqual(await waited(), 0)
      await storage.queue.reclaimAll()
      ok((await waited()) >= 5_000)
    },
  },
]

/** Returns the metrics without the notification queue, which a shared store has in common with all other databases. */
async function countWaiting({
  queue,
  isShared,
}: RunStorage): Promise<Omit<StoreMetrics, 'notificationQueueUsage'>> {
  const { notificationQueueUsage: usage, ...counts } = await queue.metrics()
  ok(isShared ? usage >= 0 && usage < 1 : usage === 0, `${usage} is the part of the queue in use`)
  return counts
}
