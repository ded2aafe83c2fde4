/**
 * A number as text that the calculator reads back as the same number: as few digits as that takes.
 * Integers have no decimals as far as doubles are exact (2^53 - 1); beyond that an exponent, because the
 * last digits of such an integer would only look exact. There is no minus zero.
 */
export function formatNumber(value: number): string {
  const isLarge = Math.abs(value) > Number.MAX_SAFE_INTEGER
  return isLarge ? value.toExponential() : String(value)
}
