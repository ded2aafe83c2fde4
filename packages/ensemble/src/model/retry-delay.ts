/** Decides whether a failed model call is repeated, and when. */
import type { TuttiError } from '@tutti/core'
import { backoffMs } from '@tutti/core/internal'

/** Limit on the retries of a model call. */
export interface ModelRetries {
  /** Maximum number of retries after the first call, at least 0. */
  readonly maxRetries: number
}

/** Default number of retries, as in the clients of the large providers. */
export const DEFAULT_MODEL_RETRIES: ModelRetries = { maxRetries: 2 }

/** State of a failed call. */
export interface RetryState extends ModelRetries {
  /** Number of retries so far. */
  readonly retries: number
  /** Returns a number from 0 up to 1, to spread the calls of many processes. @default Math.random */
  readonly random?: () => number
  /** Maximum wait that a provider can request, in milliseconds. @default 60000 */
  readonly maxRetryAfterMs?: number
  /** First and maximum wait, in milliseconds. @default those of the providers' own clients */
  readonly backoff?: Readonly<Record<'firstMs' | 'maxMs', number>>
}

/** Backoff of the providers' own clients. */
export const DEFAULT_BACKOFF = { firstMs: 500, maxMs: 8_000 }

/** Random share of a wait. */
const JITTER = 0.25

/**
 * Default maximum wait that a provider can request, in milliseconds; the official clients have the same
 * limit. If it requests more, the next fallback model is called instead.
 */
export const DEFAULT_MAX_RETRY_AFTER_MS = 60_000

/**
 * Returns the wait before the next call in milliseconds, or undefined if there is no retry:
 * `details.retryAfterMs`, else twice the previous wait, minus up to a quarter at random.
 */
export function computeModelRetryDelay(
  { retryable, details }: Pick<TuttiError, 'retryable' | 'details'>,
  {
    retries,
    maxRetries,
    random,
    maxRetryAfterMs = DEFAULT_MAX_RETRY_AFTER_MS,
    backoff = DEFAULT_BACKOFF,
  }: RetryState,
): number | undefined {
  if (!retryable || retries >= maxRetries) return undefined
  const asked = details?.['retryAfterMs']
  if (typeof asked === 'number' && asked >= 0) {
    return asked <= maxRetryAfterMs ? asked : undefined
  }
  return backoffMs(retries, { ...backoff, jitter: JITTER, random })
}
