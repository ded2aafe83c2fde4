/** Pure: store metrics from counted rows. All stores count the same rows. */
import type { RunStatus } from '@tutti/protocol'
import type { StoreMetrics } from '../../ports/run-queue.ts'

/**
 * Converts rows of `kind`, `status`, `count` and `waited_ms` to metrics. There is a row for each state and status of
 * runs, and one row each for `reviews`, `deliveries` and, in a store with a queue of notifications, its used part under
 * `notifications`.
 */
export function toStoreMetrics(rows: readonly Readonly<Record<string, unknown>>[]): StoreMetrics {
  const countOf = (kind: string): number =>
    rows.filter((row) => row['kind'] === kind).reduce((sum, row) => sum + Number(row['count']), 0)
  const unfinished: Partial<Record<RunStatus, number>> = {}
  for (const { status, count } of rows) {
    if (typeof status !== 'string') continue
    // NOTE: a cast at the boundary: the store only ever writes run statuses.
    const known = status as RunStatus
    unfinished[known] = (unfinished[known] ?? 0) + Number(count)
  }
  const waits = rows.filter((row) => row['kind'] === 'ready').map((row) => Number(row['waited_ms']))
  return {
    running: countOf('owned'),
    queued: countOf('ready'),
    waiting: countOf('waiting'),
    parked: countOf('parked'),
    unfinished,
    oldestQueuedMs: Math.max(0, ...waits),
    openReviews: countOf('reviews'),
    deliveries: countOf('deliveries'),
    notificationQueueUsage: countOf('notifications'),
  }
}
