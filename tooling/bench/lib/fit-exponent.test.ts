import { expect, it } from 'vitest'

import { fitExponent } from './fit-exponent.ts'

it.each([
  [0, () => 7],
  [1, (size: number) => 3 * size],
  [2, (size: number) => size * size],
])('fitExponent returns %d for a power law with that exponent', (exponent, valueOf) => {
  const points = [10, 40, 200].map((size) => ({ size, value: valueOf(size) }))
  expect(fitExponent(points)).toBeCloseTo(exponent, 10)
})

it('fitExponent reads a value of 0 as 1', () => {
  expect(
    fitExponent([
      { size: 10, value: 0 },
      { size: 20, value: 0 },
    ]),
  ).toBe(0)
})
