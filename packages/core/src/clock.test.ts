import { getEventListeners } from 'node:events'

import { describe, expect, it, vi } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { isoNow, sleep } from './clock.ts'

it('isoNow returns the time of the clock in UTC, to the millisecond', async () => {
  const clock = fakeClock()
  await clock.advance(61_007)
  expect(isoNow(clock)).toBe('2026-01-01T00:01:01.007Z')
})

describe('sleep', () => {
  it('`sleep` resolves after the delay, not earlier', async () => {
    const clock = fakeClock()
    const woke = vi.fn<() => void>()
    void sleep(clock, 100).then(woke)
    await clock.advance(99)
    expect(woke).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(woke).toHaveBeenCalledOnce()
  })

  it('`sleep` resolves instead of rejecting as soon as the signal aborts', async () => {
    const clock = fakeClock()
    const controller = new AbortController()
    const sleeping = sleep(clock, 100, controller.signal)
    controller.abort()
    await expect(sleeping).resolves.toBeUndefined()
    expect(clock.elapsed()).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('`sleep` does not wait with an aborted signal', async () => {
    const clock = fakeClock()
    await sleep(clock, 100, AbortSignal.abort())
    expect(clock.pending).toBe(0)
  })

  it('`sleep` leaves no listener on the signal', async () => {
    const clock = fakeClock()
    const controller = new AbortController()
    const listeners = (): number => getEventListeners(controller.signal, 'abort').length
    const slept = sleep(clock, 100, controller.signal)
    expect(listeners()).toBe(1)
    await clock.advance(100)
    await slept
    expect(listeners()).toBe(0)
    const woken = sleep(clock, 100, controller.signal)
    expect(listeners()).toBe(1)
    controller.abort()
    await woken
    expect(listeners()).toBe(0)
  })
})
