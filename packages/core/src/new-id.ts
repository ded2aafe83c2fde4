/** Creates ids. */
import { systemClock } from './clock.ts'

/** All digits and letters; ids of a later time are greater. */
const BASE = 36

/** Number of digits of the time in milliseconds since 2020, which suffices until 2109, and of the random part. */
const TIME_DIGITS = 8
const RANDOM_DIGITS = 8
const FIRST_YEAR_MS = Date.UTC(2020)

/**
 * Returns `prefix`, the time and 41 random bits, which make collisions practically impossible. As in UUIDv7 (RFC 9562), the
 * time comes first, so that new rows are neighbors in an index. An index of random ids writes a page for each new one.
 */
export function newId(prefix: 'run' | 'thread', nowMs = systemClock.now()): string {
  // Node draws the bits of many UUIDs at once, so that this takes a fraction of the time of 6 random bytes.
  const random = Number.parseInt(crypto.randomUUID().slice(-12), 16) % BASE ** RANDOM_DIGITS
  const time = Math.trunc(nowMs) - FIRST_YEAR_MS
  return `${prefix}-${toDigits(time, TIME_DIGITS)}${toDigits(random, RANDOM_DIGITS)}`
}

function toDigits(value: number, count: number): string {
  return value.toString(BASE).padStart(count, '0')
}
