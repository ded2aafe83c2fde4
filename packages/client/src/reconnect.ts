/** Pure: whether to try again, and how long to wait before that. */
import type { TuttiClientError } from './errors.ts'

/** What the wait depends on. */
export interface BackoffOptions {
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  /** From 0 up to 1. */
  readonly random: () => number
}

/**
 * The wait before try number `attempt` (from 1), in whole milliseconds: between half of a ceiling and the
 * ceiling, which begins at `baseDelayMs` and doubles up to `maxDelayMs`. The half that is left to chance
 * keeps clients that lost the same server from coming back in step.
 */
export function backoffMs(
  attempt: number,
  { baseDelayMs, maxDelayMs, random }: BackoffOptions,
): number {
  const ceiling = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1))
  return Math.round(ceiling / 2 + (random() * ceiling) / 2)
}

/**
 * Returns whether a new connection can help: after failures of the network, 429 and 5xx. Other refusals stay as they
 * are, however often the client asks.
 */
export function canReconnect({ status, retryable }: TuttiClientError): boolean {
  return status === undefined ? retryable : status === 429 || status >= 500
}
