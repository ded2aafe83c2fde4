import { expect, test } from 'vitest'

import { ms, quantile, typicalMs } from './runs-table.ts'

const TEN = [7, 3, 10, 1, 9, 2, 8, 4, 6, 5]

test.each([
  [0, 1],
  [0.5, 6],
  [0.95, 10],
  [1, 10],
])('The quantile %d is that of ten values in any order', (q, value) => {
  expect(quantile(TEN, q)).toBe(value)
  expect(TEN[0]).toBe(7)
})

test('A quantile is NaN without values, and the value itself for a single one', () => {
  expect(quantile([], 0.5)).toBeNaN()
  expect([0, 0.5, 1].map((q) => quantile([4], q))).toEqual([4, 4, 4])
})

test('The table formats short times with a decimal', () => {
  expect([0.04, 99.94, 100, 8_765.4].map(ms)).toEqual(['0.0 ms', '99.9 ms', '100 ms', '8765 ms'])
  expect(typicalMs(TEN)).toBe('6.0 ms, p95 10.0 ms')
})
