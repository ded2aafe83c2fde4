/** Pure: converts the rows of runs that have a time by which they must begin. */
import type { ExpiredRuns } from '../../ports/run-queue.ts'
import type { StoredRow } from './column-reader.ts'

/** Converts rows of `run_id` and `in_ms`, one more than `limit`, the one with the earliest time first. */
export function toExpiredRuns(
  rows: readonly StoredRow[],
  limit: number,
  toId: (stored: string) => unknown,
): ExpiredRuns {
  const expired = rows.filter((row) => Number(row['in_ms']) <= 0)
  const next = rows[Math.min(expired.length, limit)]
  return {
    runIds: expired.slice(0, limit).map((row) => String(toId(String(row['run_id'])))),
    nextInMs: next === undefined ? Infinity : Math.max(0, Number(next['in_ms'])),
  }
}
