import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { startTimer, systemClock } from './clock.ts'
import { MAX_DURATION_MS } from './limits.ts'

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  it('systemClock calls once after the delay, and never when stopped before', () => {
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

  it('systemClock waits for a delay that one timer cannot hold', () => {
    const days = 24 * 60 * 60 * 1_000
    const called = vi.fn<() => void>()
    systemClock.after(60 * days, called)
    vi.advanceTimersByTime(60 * days - 1)
    expect(called).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(called).toHaveBeenCalledOnce()
  })

  it('systemClock does not call at once after the longest duration that options allow', () => {
    const called = vi.fn<() => void>()
    systemClock.after(MAX_DURATION_MS, called)
    vi.advanceTimersByTime(MAX_DURATION_MS - 1)
    expect(called).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(called).toHaveBeenCalledOnce()
  })

  it('systemClock reports each of the timers that a long one consists of', () => {
    const started = vi.fn<(timer: unknown) => void>()
    startTimer(2 * 2_147_483_647 + 5, () => undefined, started)
    vi.advanceTimersByTime(2 * 2_147_483_647)
    expect(started).toHaveBeenCalledTimes(3)
  })

  it('systemClock never calls after an infinite delay, which can still be stopped', () => {
    const called = vi.fn<() => void>()
    const stop = systemClock.after(Infinity, called)
    vi.advanceTimersByTime(10_000_000_000)
    expect(called).not.toHaveBeenCalled()
    stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('systemClock returns the current time and the elapsed time', () => {
    expect(systemClock.now()).toBe(Date.now())
    const before = systemClock.elapsed()
    vi.advanceTimersByTime(20)
    expect(systemClock.elapsed() - before).toBe(20)
  })
})
