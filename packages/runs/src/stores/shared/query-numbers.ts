/** Pure: converts numbers of queries to values that every store accepts, and treats alike. */
import { MAX_TIME_MS } from '@tutti/protocol/basics'

/** Returns a count or position as an integer from 0 to the largest safe one; a fraction is rounded up. */
export function clampCount(count: number): number {
  return Math.ceil(Math.min(Math.max(count, 0), Number.MAX_SAFE_INTEGER))
}

/** Returns a limit in bytes as {@link clampCount} does, at least 1, so that a page is never empty because of it. */
export function clampBytes(bytes: number): number {
  return Math.max(1, clampCount(bytes))
}

/** Returns a time that a date can represent; one beyond comes from a damaged row. */
export function clampTime(ms: number): number {
  return Math.min(Math.max(ms, 0), MAX_TIME_MS)
}

/** Returns a time in milliseconds; null for Infinity. */
export function finiteOrNull(ms: number): number | null {
  return Number.isFinite(ms) ? ms : null
}
