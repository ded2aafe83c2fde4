import { expect, it } from 'vitest'

import { chooseDuration, chooseLoad } from './choose-load.ts'

it('The load of the scale test uses half of the capacity of the fleet', () => {
  const { runsPerSecond, wordsPerSecond } = chooseLoad(100)
  // Ten and a third of the cost of a start.
  expect(runsPerSecond * 10 + wordsPerSecond / 3).toBeCloseTo(50)
})

it('The load of the scale test submits some runs on the slowest machine, and not more than needed on the fastest', () => {
  expect(chooseLoad(1).runsPerSecond).toBe(0.5)
  expect(chooseLoad(10_000).runsPerSecond).toBe(4)
})

it('The load of the scale test leaves time for the owned runs to end and for the judge', () => {
  const times = { owned: 10_000, startedPerSecond: 100, mostMs: 300_000, leastMs: 60_000 }
  const { steadyMs } = chooseDuration({ ...times, remainingMs: 400_000 })
  expect(steadyMs).toBe(400_000 - 100_000 - 2 * 45_000)
  expect(chooseDuration({ ...times, remainingMs: 1_000_000 }).steadyMs).toBe(300_000)
  expect(chooseDuration({ ...times, remainingMs: 10_000 }).steadyMs).toBe(60_000)
})
