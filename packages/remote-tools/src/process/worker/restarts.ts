/**
 * Decides when a program that keeps failing is restarted.
 *
 * REMOTE-B1 After one failure it is restarted immediately, without cost for the next call.
 * REMOTE-B2 After consecutive failures the restart is delayed; the delay doubles up to a maximum.
 * REMOTE-B3 After more than `maxRestarts` failures it is not started for `COOL_DOWN_MS`, and then tried again.
 * REMOTE-B4 An answer resets the count.
 */
import { backoffMs } from '@tutti/core/internal'

/** Consecutive failures. */
export interface FailureRow {
  readonly count: number
  /** Time of the last failure, in milliseconds of `clock.elapsed()`. */
  readonly lastAt: number
  /** Reason of the last failure. */
  readonly reason: string
}

/** The state without a failure since the start or the last answer. */
export const NO_FAILURES: FailureRow = { count: 0, lastAt: 0, reason: '' }

/** Delays after the second failure: the cause of a crash rarely disappears sooner, and calls have time limits. */
const BACKOFF = { firstMs: 100, maxMs: 5_000 }

/** Pause after too many failures, in milliseconds: about the time that a person needs to fix the cause. */
export const COOL_DOWN_MS = 30_000

/** A decision about a start: its delay, or the reason against it. */
export type StartDecision =
  | { readonly start: true; readonly waitMs: number }
  | { readonly start: false; readonly message: string }

/** Returns the state with one more failure. */
export function addFailure(row: FailureRow, reason: string, now: number): FailureRow {
  return { count: row.count + 1, lastAt: now, reason }
}

/** Decides whether and after which delay to start at `now`. */
export function decideStart(row: FailureRow, maxRestarts: number, now: number): StartDecision {
  const since = now - row.lastAt
  if (row.count > maxRestarts) {
    const restMs = Math.ceil(COOL_DOWN_MS - since)
    if (restMs <= 0) return { start: true, waitMs: 0 }
    const message = `Worker failed ${row.count} times in a row; next start in ${restMs} ms: ${row.reason}`
    return { start: false, message }
  }
  if (row.count < 2) return { start: true, waitMs: 0 }
  return { start: true, waitMs: Math.max(0, backoffMs(row.count - 2, BACKOFF) - since) }
}
