import { getEventListeners } from 'node:events'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { fakeClock } from '../../../tooling/test-kit/clock.ts'
import { isoNow, sleep, systemClock } from './clock.ts'

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  it('calls once after the delay, and not at all when stopped before', () => {
    const called = vi.fn<() => void>()
    const stopped = vi.fn<() => void>()
    systemClock.after(50, called)
    systemClock.after(50, stopped)()
    vi.advanceTimersByTime(49)
    expect(called).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1_000)
    expect(called).toHaveBeenCalledOnce()
    expect(stopped).not.toHaveBeenCalled()
  })

  it('waits the whole of a delay that one timer cannot hold', () => {
    const days = 24 * 60 * 60 * 1_000
    const called = vi.fn<() => void>()
    systemClock.after(60 * days, called)
    vi.advanceTimersByTime(60 * days - 1)
    expect(called).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(called).toHaveBeenCalledOnce()
  })

  it('never calls after a delay without end, and can still be stopped', () => {
    const called = vi.fn<() => void>()
    const stop = systemClock.after(Infinity, called)
    vi.advanceTimersByTime(10_000_000_000)
    expect(called).not.toHaveBeenCalled()
    stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('tells the instant and the time that has passed', () => {
    expect(systemClock.now()).toBe(Date.now())
    const before = systemClock.elapsed()
    vi.advanceTimersByTime(20)
    expect(systemClock.elapsed() - before).toBe(20)
  })
})

it('isoNow is the instant of the clock in UTC, to the millisecond', async () => {
  const clock = fakeClock()
  await clock.advance(61_007)
  expect(isoNow(clock)).toBe('2026-01-01T00:01:01.007Z')
})

describe('sleep', () => {
  it('resolves after the delay, not before', async () => {
    const clock = fakeClock()
    const woke = vi.fn<() => void>()
    void sleep(clock, 100).then(woke)
    await clock.advance(99)
    expect(woke).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(woke).toHaveBeenCalledOnce()
  })

  it('resolves, and does not reject, as soon as the signal aborts', async () => {
    const clock = fakeClock()
    const controller = new AbortController()
    const sleeping = sleep(clock, 100, controller.signal)
    controller.abort()
    await expect(sleeping).resolves.toBeUndefined()
    expect(clock.elapsed()).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('does not wait at all on a signal that has aborted', async () => {
    const clock = fakeClock()
    await sleep(clock, 100, AbortSignal.abort())
    expect(clock.pending).toBe(0)
  })

  it('leaves no listener on the signal, whether time or the signal woke it', async () => {
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
