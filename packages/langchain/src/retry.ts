/** Pure: whether a failed call is made again, and when. */
import type { TuttiError } from '@tutti/core'

/** Where the call stands. */
export interface RetryState {
  /** Retries made so far. */
  readonly retries: number
  readonly maxRetries: number
  /** From 0 up to 1, to spread the calls of many processes. */
  readonly random: number
}

/** First wait and longest wait, in milliseconds; the providers' own clients use these. */
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000

/** A wait the provider asks for beyond this is left to the caller, who may know another model. */
const MAX_RETRY_AFTER_MS = 60_000

/**
 * How long to wait before the next attempt, in milliseconds, or undefined when there is none: as long
 * as the provider says, else twice as long each time, less up to a quarter.
 */
export function retryDelayMs(
  { retryable, details }: Pick<TuttiError, 'retryable' | 'details'>,
  { retries, maxRetries, random }: RetryState,
): number | undefined {
  if (!retryable || retries >= maxRetries) return undefined
  const asked = details?.['retryAfterMs']
  if (typeof asked === 'number') return asked <= MAX_RETRY_AFTER_MS ? asked : undefined
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** retries, MAX_DELAY_MS)
  return Math.round(delayMs * (1 - random / 4))
}
