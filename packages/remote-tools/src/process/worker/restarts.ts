/**
 * When a program that keeps failing is started anew.
 *
 * B1 After one failure it is started at once: that costs the next call nothing.
 * B2 After more in a row it waits, twice as long each time, up to a bound.
 * B3 After more than `maxRestarts` it is not started at all for `COOL_DOWN_MS`; then once more.
 * B4 An answer ends the row.
 */

/** A row of failures. */
export interface FailureRow {
  readonly count: number
  /** When the last one was, on the clock's own scale. */
  readonly lastAt: number
  /** What it was. */
  readonly reason: string
}

/** No failure since the start or the last answer. */
export const NO_FAILURES: FailureRow = { count: 0, lastAt: 0, reason: '' }

/** Wait after the second failure; a crash is seldom over sooner. */
const FIRST_WAIT_MS = 100

/** Waits do not grow beyond this: calls have time limits. */
const LONGEST_WAIT_MS = 5_000

/** Rest after too many failures: about the time in which somebody could mend something. */
export const COOL_DOWN_MS = 30_000

/** Whether to start, and after which wait, or why not. */
export type StartDecision =
  | { readonly start: true; readonly waitMs: number }
  | { readonly start: false; readonly message: string }

/** The row with one failure more. */
export function withFailure(row: FailureRow, reason: string, now: number): FailureRow {
  return { count: row.count + 1, lastAt: now, reason }
}

/** Decides about a start at `now`. */
export function decideStart(row: FailureRow, maxRestarts: number, now: number): StartDecision {
  const since = now - row.lastAt
  if (row.count > maxRestarts) {
    const restMs = Math.ceil(COOL_DOWN_MS - since)
    if (restMs <= 0) return { start: true, waitMs: 0 }
    const message = `Worker failed ${row.count} times in a row and is not started for ${restMs} ms: ${row.reason}`
    return { start: false, message }
  }
  if (row.count < 2) return { start: true, waitMs: 0 }
  const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (row.count - 2))
  return { start: true, waitMs: Math.max(0, waitMs - since) }
}
