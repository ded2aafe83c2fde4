/** Creates ids. */
import { systemClock } from './clock.ts'

/** All digits and letters; ids of a later time are greater. */
const BASE = 36

/**
 * Number of digits of half of the time in milliseconds since 2020, which suffices until 2109, and of half of the random
 * part.
 */
const HALF_DIGITS = 4
const HALF_RANGE = BASE ** HALF_DIGITS
const FIRST_YEAR_MS = Date.UTC(2020)

/**
 * Returns `prefix`, the time and 41 random bits, which make collisions practically impossible. As in UUIDv7 (RFC 9562), the
 * time comes first, so that new rows are neighbors in an index. An index of random ids writes a page for each new one.
 */
export function newId(prefix: 'run' | 'thread', nowMs = systemClock.now()): string {
  const time = Math.trunc(nowMs) - FIRST_YEAR_MS
  const high = drawNumber() % HALF_RANGE
  const low = drawNumber() % HALF_RANGE
  return `${prefix}-${toDigits(Math.trunc(time / HALF_RANGE))}${toDigits(time % HALF_RANGE)}${toDigits(high)}${toDigits(low)}`
}

/** Random numbers of 32 bits. They are drawn together, because one draw takes almost as long as many. */
const drawn = new Uint32Array(256)
let left = 0

function drawNumber(): number {
  if (left === 0) {
    crypto.getRandomValues(drawn)
    left = drawn.length
  }
  left -= 1
  return drawn[left] ?? 0
}

/** Returns the digits of half a part. V8 formats numbers of 31 bits several times faster than larger ones. */
function toDigits(value: number): string {
  return value.toString(BASE).padStart(HALF_DIGITS, '0')
}
