/**
 * Formats a number with the fewest digits that the calculator parses as the same number. Integers up to 2^53 - 1, which
 * doubles represent exactly, have no exponent. Larger numbers have one, because their last digits would only look
 * exact. Minus zero becomes `0`.
 */
export function formatNumber(value: number): string {
  const isLarge = Math.abs(value) > Number.MAX_SAFE_INTEGER
  return isLarge ? value.toExponential() : String(value)
}
