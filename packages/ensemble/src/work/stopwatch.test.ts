import { expect, it, vi } from 'vitest'

import { fakeClock } from '../../test/testing.ts'
import { Stopwatch } from './stopwatch.ts'

it('[ENS-G5] A stopwatch stops while at least one caller holds it', async () => {
  const clock = fakeClock()
  const onHold = vi.fn<(held: boolean) => void>()
  const stopwatch = new Stopwatch(clock, 1_000, onHold)
  await clock.advance(10)
  const resume = stopwatch.hold()
  const resumeToo = stopwatch.hold()
  await clock.advance(100)
  resume()
  resume()
  await clock.advance(100)
  expect(stopwatch.elapsed()).toBe(1_010)
  resumeToo()
  await clock.advance(5)
  expect(stopwatch.elapsed()).toBe(1_015)
  expect(onHold.mock.calls).toEqual([[true], [false]])
})

it('[ENS-T6] A stopwatch calls a limit once, in working time, unless the limit is removed', async () => {
  const clock = fakeClock()
  const stopwatch = new Stopwatch(clock, 40)
  const reached: string[] = []
  stopwatch.onReach(100, () => reached.push('active'))
  const stop = stopwatch.onReach(90, () => reached.push('stopped'))
  await clock.advance(30)
  const resume = stopwatch.hold()
  await clock.advance(1_000)
  stopwatch.onReach(50, () => reached.push('in the past'))
  expect(clock.pending).toBe(0)
  resume()
  await clock.advance(10)
  expect(reached).toEqual(['in the past'])
  stop()
  await clock.advance(20)
  expect(reached).toEqual(['in the past', 'active'])
  const again = stopwatch.hold()
  again()
  await clock.advance(1_000)
  expect(reached).toHaveLength(2)
})
