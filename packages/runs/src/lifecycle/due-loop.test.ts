import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { turns } from '../../test/turns.ts'
import { DueLoop } from './due-loop.ts'

describe('DueLoop', () => {
  it('DueLoop runs its task at its start, and again when it says that work is due', async () => {
    const { clock, calls, loop } = setUp(() => Promise.resolve(300))
    const stop = loop.start()
    await clock.advance(0)
    await clock.advance(600)
    expect(calls).toEqual([0, 300, 600])
    stop()
    expect(clock.pending).toBe(0)
  })

  it('DueLoop waits no longer than its maximum, also after an error', async () => {
    const { clock, calls, errors, loop } = setUp(() => Promise.reject(new Error('no connection')))
    loop.start()
    await clock.advance(0)
    await clock.advance(1_000)
    expect(calls).toEqual([0, 1_000])
    expect(errors).toHaveLength(2)
  })

  it('DueLoop runs earlier when it is woken, and not later', async () => {
    const { clock, calls, loop } = setUp(() => Promise.resolve(Infinity))
    loop.start()
    await clock.advance(0)
    loop.wakeIn(100)
    loop.wakeIn(500)
    await clock.advance(1_000)
    expect(calls).toEqual([0, 100])
  })

  it('DueLoop runs again after a wake while its task runs', async () => {
    const gate = Promise.withResolvers<number>()
    const { clock, calls, loop } = setUp(() => gate.promise)
    loop.start()
    await clock.advance(0)
    loop.wakeIn(0)
    await turns()
    expect(calls).toEqual([0])
    gate.resolve(Infinity)
    await turns()
    await clock.advance(0)
    expect(calls).toEqual([0, 0])
  })
})

function setUp(task: () => Promise<number>) {
  const clock = fakeClock()
  const startedAt = clock.elapsed()
  const calls: number[] = []
  const errors: unknown[] = []
  const loop = new DueLoop({
    clock,
    maxWaitMs: () => 1_000,
    task: () => {
      calls.push(clock.elapsed() - startedAt)
      return task()
    },
    onError: (error) => errors.push(error),
  })
  return { clock, calls, errors, loop }
}
