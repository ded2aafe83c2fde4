/** Pure: the figures of a store from the rows that it counts, which every store counts alike. */
import type { RunStatus } from '@tutti/protocol'
import type { StoreFigures } from './ports/run-queue.ts'

/**
 * Figures of rows of `kind`, `status`, `count` and `waited_ms`: runs by state and status, and one row each for
 * `reviews` and `deliveries`.
 */
export function figuresOf(rows: readonly Readonly<Record<string, unknown>>[]): StoreFigures {
  const countOf = (kind: string): number =>
    rows.filter((row) => row['kind'] === kind).reduce((sum, row) => sum + Number(row['count']), 0)
  const unfinished: Partial<Record<RunStatus, number>> = {}
  for (const { status, count } of rows) {
    if (typeof status !== 'string') continue
    // NOTE: the column holds what the store was given.
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
  }
}
