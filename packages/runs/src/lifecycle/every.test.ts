import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { turns } from '../../test/turns.ts'
import { every } from './every.ts'

describe('every', () => {
  it('every() runs its task at the interval, first after one interval', async () => {
    const { clock, calls, stop } = setUp()
    await clock.advance(99)
    expect(calls).toHaveLength(0)
    await clock.advance(201)
    expect(calls).toEqual([100, 200, 300])
    stop()
  })

  it('every() never runs its task twice at a time, and waits from its end', async () => {
    const gate = Promise.withResolvers<void>()
    const { clock, calls, stop } = setUp(() => gate.promise)
    await clock.advance(250)
    expect([calls, clock.pending]).toEqual([[100], 0])
    gate.resolve()
    await turns()
    await clock.advance(99)
    expect(calls).toEqual([100])
    await clock.advance(1)
    expect(calls).toEqual([100, 350])
    stop()
  })

  it('every() reports an error and continues', async () => {
    const broken = new Error('no connection')
    const { clock, calls, errors, stop } = setUp(() => Promise.reject(broken))
    await clock.advance(200)
    expect(errors).toEqual([broken, broken])
    expect(calls).toEqual([100, 200])
    stop()
  })

  it('every() leaves no timer when it is stopped', async () => {
    const { clock, calls, stop } = setUp()
    await clock.advance(100)
    expect(clock.pending).toBe(1)
    stop()
    stop()
    expect(clock.pending).toBe(0)
    await clock.advance(1_000)
    expect(calls).toEqual([100])
  })

  it('every() leaves no timer when it is stopped while its task runs', async () => {
    const gate = Promise.withResolvers<void>()
    const { clock, stop } = setUp(() => gate.promise)
    await clock.advance(100)
    stop()
    gate.resolve()
    await turns()
    expect(clock.pending).toBe(0)
  })
})

function setUp(task: () => Promise<void> = () => Promise.resolve()) {
  const clock = fakeClock()
  const calls: number[] = []
  const errors: unknown[] = []
  const stop = every({
    clock,
    everyMs: 100,
    task: () => {
      calls.push(clock.elapsed())
      return task()
    },
    onError: (error) => errors.push(error),
  })
  return { clock, calls, errors, stop }
}
