import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { DatabaseClock } from './database-clock.ts'

const HOUR_MS = 3_600_000

/** A process and a database whose clock is ahead, and can be set. */
function setUp(aheadMs: number) {
  const own = fakeClock()
  const changes: unknown[] = []
  const clock = new DatabaseClock(
    { ...silentLogger, warn: (_message, fields) => changes.push(fields) },
    own,
  )
  let setMs = aheadMs
  return {
    clock,
    changes,
    /** Time by which the clock is ahead of that of the database, in milliseconds. */
    errorMs: () => clock.now() - own.now() - setMs,
    pass: (ms: number) => own.advance(ms),
    set(ms: number) {
      setMs += ms
    },
    /** Reads the clock of the database; the statement and its result take so many milliseconds. */
    read: (requestMs: number, responseMs: number) =>
      clock.measure(async () => {
        await own.advance(requestMs)
        const instant = own.now() + setMs
        await own.advance(responseMs)
        return instant
      }),
  }
}

it.each([HOUR_MS, -HOUR_MS, 0])(
  '[RUNS-TI4] The clock of a process shows that of a database that is %i ms ahead',
  async (aheadMs) => {
    const { read, errorMs, pass } = setUp(aheadMs)
    await read(2, 2)
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(1)
    await pass(HOUR_MS)
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(1)
  },
)

it('[RUNS-TI5] A slow reading does not spoil the difference, and a faster one improves it', async () => {
  const { read, errorMs, changes } = setUp(HOUR_MS)
  await read(0, 900)
  expect(Math.abs(errorMs())).toBeGreaterThan(400)
  await read(3, 1)
  const errorAfter = Math.abs(errorMs())
  expect(errorAfter).toBeLessThanOrEqual(4)
  for (const [requestMs, responseMs] of [
    [0, 10_000],
    [10_000, 0],
  ] as const) {
    await read(requestMs, responseMs)
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(errorAfter)
  }
  expect(changes).toEqual([])
})

it('[RUNS-TI5] A reading that fails changes nothing', async () => {
  const { clock, read, errorMs } = setUp(HOUR_MS)
  await read(1, 1)
  await expect(clock.measure(() => Promise.reject(new Error('no connection')))).rejects.toThrow(
    'no connection',
  )
  expect(Math.abs(errorMs())).toBeLessThanOrEqual(1)
})

it('[RUNS-TI6] A step of the database is followed at the next reading in both directions, and logged', async () => {
  const { read, errorMs, set, changes } = setUp(0)
  await read(1, 1)
  for (const stepMs of [HOUR_MS, -2 * HOUR_MS]) {
    set(stepMs)
    await read(1, 1)
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(2)
  }
  expect(changes).toEqual([{ changeMs: expect.any(Number) }, { changeMs: expect.any(Number) }])
})

it('[RUNS-TI6] The clock does not go back by a small correction', async () => {
  const { clock, read, errorMs, set, pass, changes } = setUp(0)
  await read(0, 0)
  const before = clock.now()
  set(-500)
  await read(0, 0)
  expect(clock.now()).toBe(before)
  await pass(600)
  expect(Math.abs(errorMs())).toBeLessThanOrEqual(1)
  expect(changes).toEqual([])
})
