import { expect, it } from 'vitest'

import { nextAttemptInMs } from './retry-schedule.ts'

it('The retry schedule waits longer after each attempt, about three days in total', () => {
  const waits = Array.from({ length: 9 }, (_, index) => nextAttemptInMs(index + 1, () => 1) ?? 0)
  expect(waits.toSorted((a, b) => a - b)).toEqual(waits)
  expect(waits[0]).toBe(5_000)
  const days = waits.reduce((sum, wait) => sum + wait, 0) / (24 * 3_600_000)
  expect(days).toBeGreaterThan(3)
  expect(days).toBeLessThan(3.5)
})

it('The retry schedule subtracts up to a tenth of random time', () => {
  expect(nextAttemptInMs(1, () => 0)).toBe(4_500)
})

it('The retry schedule ends after the tenth attempt', () => {
  expect(nextAttemptInMs(9)).toBeDefined()
  expect(nextAttemptInMs(10)).toBeUndefined()
})
