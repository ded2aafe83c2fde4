/** Delays before retries. */

/** Random share of a delay. */
export interface JitterOptions {
  /** Random share of the delay, from 0 to 1: it spreads callers that failed at the same moment. */
  readonly jitter: number
  /** Returns a number from 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined
}

export interface BackoffOptions extends Partial<JitterOptions> {
  /** Delay before the first retry, in milliseconds. */
  readonly firstMs: number
  /** Maximum delay, in milliseconds. */
  readonly maxMs: number
}

/**
 * Returns the delay before a retry, in whole milliseconds: `firstMs`, doubled with each retry up to `maxMs`, less its
 * random share.
 *
 * @param retry number of retries before this one.
 */
export function backoffMs(
  retry: number,
  { firstMs, maxMs, jitter = 0, ...options }: BackoffOptions,
): number {
  return withJitter(Math.min(maxMs, firstMs * 2 ** retry), { jitter, ...options })
}

/** Returns a delay less its random share, in whole milliseconds: from `delayMs * (1 - jitter)` to `delayMs`. */
export function withJitter(
  delayMs: number,
  { jitter, random = Math.random }: JitterOptions,
): number {
  return Math.round(delayMs * (1 - jitter * (1 - random())))
}
