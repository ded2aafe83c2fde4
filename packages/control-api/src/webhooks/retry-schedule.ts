/** Retry schedule of failed deliveries. */
import { withJitter } from '@tutti/protocol/internal'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Wait after each failed attempt, about three days in total, as Standard Webhooks recommends. */
const WAITS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** Random share of the wait, so that deliveries to a recovered receiver do not arrive all at once. */
const JITTER = 0.1

/**
 * Returns the time to the next attempt in milliseconds; undefined after the last attempt.
 *
 * @param attempt number of the failed attempt, from 1.
 * @param random returns a number from 0 up to 1.
 */
export function nextAttemptInMs(attempt: number, random?: () => number): number | undefined {
  const wait = WAITS[attempt - 1]
  return wait === undefined ? undefined : withJitter(wait, { jitter: JITTER, random })
}
