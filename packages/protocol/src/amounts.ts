/**
 * Counts and amounts of money that come from outside. Pure.
 *
 * A token count is a non-negative safe integer, or unknown; fractions are rounded. A cost is finite and not negative, or
 * unknown. Sums stop at `MAX_AMOUNT`, so that they never become inexact, infinite or NaN.
 */

/** Maximum of every count and of every amount in US dollars. */
export const MAX_AMOUNT = Number.MAX_SAFE_INTEGER

/** Returns a reported number of tokens; undefined if it is not a number from 0 to {@link MAX_AMOUNT}. */
export function readTokenCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !(value >= 0 && value <= MAX_AMOUNT)) return undefined
  // JSON has a negative zero, which is a different value for equality checks and stores.
  return Math.round(value) + 0
}

/**
 * Returns a reported cost in US dollars, at most {@link MAX_AMOUNT}; undefined if it is not a finite number of at
 * least 0.
 */
export function readCostUsd(value: unknown): number | undefined {
  if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) return undefined
  return Math.min(value, MAX_AMOUNT) + 0
}

/** Returns the sum of two amounts, at most {@link MAX_AMOUNT}. */
export function addAmounts(one: number, other: number): number {
  return Math.min(one + other, MAX_AMOUNT)
}
