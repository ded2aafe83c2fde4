import { describe, expect, it } from 'vitest'

import { addAmounts, MAX_AMOUNT, readCostUsd, readTokenCount } from './amounts.ts'

const NOT_AMOUNTS: readonly unknown[] = [
  undefined,
  null,
  NaN,
  Infinity,
  -Infinity,
  -1,
  -0.5,
  '5',
  '',
  true,
  5n,
  [],
  [5],
  {},
]

describe('an amount from outside', () => {
  it.each(NOT_AMOUNTS)('%o is neither a token count nor a cost', (value) => {
    expect([readTokenCount(value), readCostUsd(value)]).toEqual([undefined, undefined])
  })

  it.each([
    [0, 0],
    [-0, 0],
    [1, 1],
    [1.4, 1],
    [1.5, 2],
    [1e-300, 0],
    [MAX_AMOUNT, MAX_AMOUNT],
    [MAX_AMOUNT + 1, undefined],
    [1e308, undefined],
  ])('%d is read as the token count %d', (value, count) => {
    expect(readTokenCount(value)).toBe(count)
  })

  it.each([
    [0, 0],
    [-0, 0],
    [0.000_001, 0.000_001],
    [1e308, MAX_AMOUNT],
  ])('%d is read as the cost %d', (value, cost) => {
    expect(readCostUsd(value)).toBe(cost)
  })

  it('An amount from outside never makes a sum larger than the maximum', () => {
    expect(addAmounts(1, 2)).toBe(3)
    expect(addAmounts(MAX_AMOUNT, MAX_AMOUNT)).toBe(MAX_AMOUNT)
    expect(addAmounts(0.1, 0.2)).toBeCloseTo(0.3)
  })
})
