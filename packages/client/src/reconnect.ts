/** Pure: decides about reconnects and their delays. */
import type { TuttiClientError } from './errors.ts'

/** Parameters of the backoff. */
export interface BackoffOptions {
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  /** Returns a number from 0 up to 1. */
  readonly random: () => number
}

/**
 * Returns the wait before attempt number `attempt` (from 1), in whole milliseconds: between half of a ceiling and the
 * ceiling, which begins at `baseDelayMs` and doubles up to `maxDelayMs`. The random half keeps clients that lost the
 * same server from reconnecting at the same time.
 */
export function backoffMs(
  attempt: number,
  { baseDelayMs, maxDelayMs, random }: BackoffOptions,
): number {
  const ceiling = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1))
  return Math.round(ceiling / 2 + (random() * ceiling) / 2)
}

/**
 * Whether a new connection can help: after failures of the network, 429 and 5xx. Other refusals do not change.
 */
export function canReconnect({ status, retryable }: TuttiClientError): boolean {
  return status === undefined ? retryable : status === 429 || status >= 500
}
