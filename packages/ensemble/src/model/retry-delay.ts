/** Pure: whether a failed model call is made again, and when. */
import type { TuttiError } from '@tutti/core'

/** How often a model call is made again. */
export interface ModelRetries {
  /** Calls after the first one, at least 0. */
  readonly maxRetries: number
}

/** Two, as in the clients of the large providers. */
export const DEFAULT_MODEL_RETRIES: ModelRetries = { maxRetries: 2 }

/** Where a call stands. */
export interface RetryState extends ModelRetries {
  /** Retries made so far. */
  readonly retries: number
  /** From 0 up to 1, to spread the calls of many processes. */
  readonly random: number
  /** Longest wait that a provider may ask for, in milliseconds. @default 60000 */
  readonly maxRetryAfterMs?: number
}

/** First wait and longest wait, in milliseconds; the providers' own clients use these. */
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000

/**
 * Longest wait that a provider may ask for, in milliseconds: the official clients cap it at a minute too.
 * After a longer one the call is not repeated; the next fallback model is asked.
 */
export const DEFAULT_MAX_RETRY_AFTER_MS = 60_000

/**
 * How long to wait before the next call, in milliseconds, or undefined when there is none: as long as
 * `details.retryAfterMs` says, else twice as long each time, less up to a quarter.
 */
export function modelRetryDelayMs(
  { retryable, details }: Pick<TuttiError, 'retryable' | 'details'>,
  { retries, maxRetries, random, maxRetryAfterMs = DEFAULT_MAX_RETRY_AFTER_MS }: RetryState,
): number | undefined {
  if (!retryable || retries >= maxRetries) return undefined
  const asked = details?.['retryAfterMs']
  if (typeof asked === 'number' && asked >= 0) {
    return asked <= maxRetryAfterMs ? asked : undefined
  }
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** retries, MAX_DELAY_MS)
  return Math.round(delayMs * (1 - random / 4))
}
