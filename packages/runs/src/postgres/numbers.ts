/** Pure: converts numbers to values that Postgres accepts. */

/** Clamps a count to 0 and the largest safe integer. */
export function clampCount(count: number): number {
  return Math.min(Math.max(count, 0), Number.MAX_SAFE_INTEGER)
}

/** Returns a time in milliseconds; null for Infinity. */
export function finiteOrNull(ms: number): number | null {
  return Number.isFinite(ms) ? ms : null
}
