/** Pure: numbers as Postgres takes them. */

/** A count; one without an end becomes one that is never reached. */
export function clampCount(count: number): number {
  return Math.min(Math.max(count, 0), Number.MAX_SAFE_INTEGER)
}

/** A time in milliseconds; one without an end is nothing at all. */
export function finiteOrNull(ms: number): number | null {
  return Number.isFinite(ms) ? ms : null
}
