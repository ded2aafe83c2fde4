/** Pure: when a delivery that failed is tried again. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Time to the next attempt after each that failed: about three days in all, as Standard Webhooks advises. */
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

/** Share of the time that is left to chance, so that receivers that come back are not all asked at once. */
const JITTER = 0.1

/**
 * Time to the next attempt in milliseconds; undefined when there is no other. `random` is from 0 to 1.
 *
 * @param attempt the one that failed, from 1.
 */
export function nextAttemptInMs(attempt: number, random: number): number | undefined {
  const wait = WAITS[attempt - 1]
  return wait === undefined ? undefined : Math.round(wait * (1 + JITTER * random))
}
