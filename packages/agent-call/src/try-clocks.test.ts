import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { TryClocks } from './try-clocks.ts'

import type { Termination } from './termination.ts'

function clocksOf(
  timeoutMs: number,
  idleTimeoutMs: number,
): {
  clock: ReturnType<typeof fakeClock>
  clocks: TryClocks
  told: Termination[]
} {
  const clock = fakeClock()
  const told: Termination[] = []
  const clocks = new TryClocks({
    clock,
    limits: { timeoutMs, idleTimeoutMs },
    onLimit: (termination) => told.push(termination),
  })
  return { clock, clocks, told }
}

describe('[Y1] the clocks of a try', () => {
  it('tell which limit was reached', async () => {
    const { clock, clocks, told } = clocksOf(200, 100)
    clocks.start()
    await clock.advance(200)
    expect(told).toMatchObject([
      { reason: 'idle_timeout', message: 'nothing arrived for 100 ms', retryable: true },
      { reason: 'timeout', message: 'it took longer than 200 ms', retryable: true },
    ])
  })

  it('do not run before they are started, nor once they are stopped', async () => {
    const { clock, clocks, told } = clocksOf(200, 100)
    expect([clocks.leftMs(), clock.pending]).toEqual([Infinity, 0])
    clocks.start()
    expect([clocks.leftMs(), clock.pending]).toEqual([200, 2])
    clocks.stop()
    expect([clocks.leftMs(), clock.pending]).toEqual([Infinity, 0])
    await clock.advance(500)
    expect(told).toEqual([])
  })

  it('have all their time again with each start, and leave no timer behind', async () => {
    const { clock, clocks, told } = clocksOf(200, Infinity)
    clocks.start()
    await clock.advance(150)
    expect(clocks.leftMs()).toBe(50)
    clocks.start()
    expect([clocks.leftMs(), clock.pending]).toEqual([200, 1])
    await clock.advance(199)
    expect(told).toEqual([])
  })

  it('stand still while two questions are open, until both are answered', async () => {
    const { clock, clocks, told } = clocksOf(200, 100)
    clocks.start()
    await clock.advance(50)
    const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    const asked = [
      clocks.standingStill(() => first.promise),
      clocks.standingStill(() => second.promise),
    ]
    first.resolve(1)
    await clock.advance(1_000)
    expect([told.length, clock.pending, clocks.leftMs()]).toEqual([0, 0, 150])
    second.resolve(2)
    expect(await Promise.all(asked)).toEqual([1, 2])
    await clock.advance(100)
    expect(told).toMatchObject([{ reason: 'idle_timeout' }])
    await clock.advance(50)
    expect(told).toHaveLength(2)
  })

  it('go on after a question that failed', async () => {
    const { clock, clocks, told } = clocksOf(200, Infinity)
    clocks.start()
    await expect(clocks.standingStill(() => Promise.reject(new Error('No')))).rejects.toThrow('No')
    await clock.advance(200)
    expect(told).toHaveLength(1)
  })

  it.each(['stop', 'start'] as const)('are not moved by a question of before a %s', async (how) => {
    const { clock, clocks, told } = clocksOf(200, 100)
    clocks.start()
    const { promise, resolve } = Promise.withResolvers<void>()
    const asked = clocks.standingStill(() => promise)
    clocks[how]()
    const { pending } = clock
    resolve()
    await asked
    expect(clock.pending).toBe(pending)
    clocks.stop()
    expect(clock.pending).toBe(0)
    expect(told).toEqual([])
  })
})
