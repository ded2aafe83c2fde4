/** Pure: store metrics from counted rows. All stores count the same rows. */
import type { RunStatus } from '@tutti/protocol'
import type { QueueLoad, StoreMetrics } from '../../ports/run-queue.ts'

type CountedRows = readonly Readonly<Record<string, unknown>>[]

/** Converts rows of `kind` and `count`, one for each state of runs that have not ended, to their numbers. */
export function toQueueLoad(rows: CountedRows): QueueLoad {
  return {
    running: countOf(rows, 'owned'),
    queued: countOf(rows, 'ready'),
    waiting: countOf(rows, 'waiting'),
    parked: countOf(rows, 'parked'),
  }
}

function countOf(rows: CountedRows, kind: string): number {
  return rows
    .filter((row) => row['kind'] === kind)
    .reduce((sum, row) => sum + Number(row['count'] ?? 0), 0)
}

/**
 * Converts rows of `kind`, `status`, `count` and `waited_ms` to metrics. There is a row for each state and status of
 * runs, and one row each for `reviews`, `deliveries` and, in a store with a queue of notifications, its used part under
 * `notifications`.
 */
export function toStoreMetrics(rows: CountedRows): StoreMetrics {
  const unfinished: Partial<Record<RunStatus, number>> = {}
  for (const { status, count } of rows) {
    if (typeof status !== 'string') continue
    // NOTE: a cast at the boundary: the store only ever writes run statuses.
    const known = status as RunStatus
    unfinished[known] = (unfinished[known] ?? 0) + Number(count)
  }
  const waits = rows.filter((row) => row['kind'] === 'ready').map((row) => Number(row['waited_ms']))
  return {
    ...toQueueLoad(rows),
    unfinished,
    oldestQueuedMs: Math.max(0, ...waits),
    openReviews: countOf(rows, 'reviews'),
    deliveries: countOf(rows, 'deliveries'),
    notificationQueueUsage: countOf(rows, 'notifications'),
  }
}
