/** Creates ids. */
import { systemClock } from '@tutti/core'

/** Number of digits of the time in milliseconds, which suffices until the year 5188, and of the random part. */
const TIME_DIGITS = 9
const RANDOM_DIGITS = 10

/** All digits and letters; runs of a later time have greater ids. */
const BASE = 36

/**
 * Returns `prefix`, the time and 48 random bits, which make collisions practically impossible. As in UUIDv7 (RFC 9562), the
 * time comes first, so that new rows are neighbors in an index. An index of random ids writes a page for each new one.
 */
export function newId(prefix: 'run' | 'thread', nowMs = systemClock.now()): string {
  // Node draws the bits of many UUIDs at once, so that this takes a fraction of the time of 6 random bytes.
  const random = Number.parseInt(crypto.randomUUID().slice(-12), 16)
  return `${prefix}-${toDigits(Math.trunc(nowMs), TIME_DIGITS)}${toDigits(random, RANDOM_DIGITS)}`
}

function toDigits(value: number, count: number): string {
  return value.toString(BASE).padStart(count, '0')
}
