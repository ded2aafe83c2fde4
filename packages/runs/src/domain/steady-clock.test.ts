import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { createSteadyClock, MIN_STEP_MS } from './steady-clock.ts'

import type { Clock } from '@tutti/core'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 0, 1)

/** A machine whose clock can be set and that can be suspended. */
function machine() {
  const fake = fakeClock(START_MS)
  let setMs = 0
  let suspendedMs = 0
  const clock: Clock = { ...fake, now: () => fake.now() + setMs + suspendedMs }
  const steady = createSteadyClock(clock, () => 5_000 + fake.elapsed() + suspendedMs)
  return {
    steady,
    passed: () => steady.now() - START_MS,
    pass: (ms: number) => fake.advance(ms),
    step(ms: number) {
      setMs += ms
    },
    suspend(ms: number) {
      suspendedMs += ms
    },
  }
}

it.each([HOUR_MS, -HOUR_MS, MIN_STEP_MS, -MIN_STEP_MS])(
  '[RUNS-TI1] A step of %i ms does not change the clock',
  async (stepMs) => {
    const { steady, passed, pass, step } = machine()
    await pass(10)
    expect(passed()).toBe(10)
    step(stepMs)
    await pass(5)
    expect(passed()).toBe(15)
    expect(steady.ignoredMs).toBe(stepMs)
    step(-stepMs)
    await pass(5)
    expect(passed()).toBe(20)
    expect(steady.ignoredMs).toBe(0)
  },
)

it('[RUNS-TI1] A step is ignored when the clock was not read for a day before', async () => {
  const { passed, pass, step } = machine()
  await pass(12 * HOUR_MS)
  step(-HOUR_MS)
  await pass(12 * HOUR_MS)
  expect(passed()).toBe(24 * HOUR_MS)
})

it('[RUNS-TI2] Small corrections are followed, and the clock never goes back', async () => {
  const { steady, passed, pass, step } = machine()
  step(400)
  expect(passed()).toBe(400)
  step(-900)
  expect(passed()).toBe(400)
  await pass(600)
  expect(passed()).toBe(400)
  await pass(600)
  expect(passed()).toBe(700)
  expect(steady.ignoredMs).toBe(0)
})

it('[RUNS-TI3] Time in which the machine was suspended passes, also when its clock is set then', async () => {
  const { steady, passed, pass, step, suspend } = machine()
  await pass(10)
  suspend(8 * HOUR_MS)
  expect(passed()).toBe(8 * HOUR_MS + 10)
  expect(steady.ignoredMs).toBe(0)
  suspend(2 * HOUR_MS)
  step(-HOUR_MS)
  expect(passed()).toBe(10 * HOUR_MS + 10)
  expect(steady.ignoredMs).toBe(-HOUR_MS)
})

it('The clock measures durations and starts timers like the clock that it reads', async () => {
  const fake = fakeClock(START_MS)
  const steady = createSteadyClock(fake, () => 0)
  const called: number[] = []
  steady.after(20, () => called.push(steady.elapsed()))
  const stop = steady.after(10, () => called.push(-1))
  stop()
  await fake.advance(30)
  expect(called).toEqual([20])
})
