/** Pure: fits the growth of a measurement. */

/** The value that was measured for a size. */
export interface SizedValue {
  readonly size: number
  readonly value: number
}

/**
 * Returns the exponent k of the power law `value = c * size ** k` by least squares over the logarithms: 1 for linear
 * growth, 2 for quadratic. A value of 0 counts as 1.
 */
export function fitExponent(points: readonly SizedValue[]): number {
  const logs = points.map(
    ({ size, value }) => [Math.log(size), Math.log(Math.max(1, value))] as const,
  )
  const mean = (at: 0 | 1): number => logs.reduce((sum, log) => sum + log[at], 0) / logs.length
  const [meanX, meanY] = [mean(0), mean(1)]
  const shared = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return shared / logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
}
