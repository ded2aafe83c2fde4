import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { systemClock } from './clock.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

it('calls once after the delay, unless it is stopped', () => {
  const called = vi.fn<() => void>()
  const stopped = vi.fn<() => void>()
  systemClock.after(50, called)
  systemClock.after(50, stopped)()
  vi.advanceTimersByTime(49)
  expect(called).not.toHaveBeenCalled()
  vi.advanceTimersByTime(100)
  expect(called).toHaveBeenCalledOnce()
  expect(stopped).not.toHaveBeenCalled()
})

it('does not call at once for a delay that timers cannot hold', () => {
  const called = vi.fn<() => void>()
  const stop = systemClock.after(Infinity, called)
  vi.advanceTimersByTime(1_000_000)
  expect(called).not.toHaveBeenCalled()
  stop()
})

it('tells the time', () => {
  expect(systemClock.now()).toBe(Date.now())
  const before = systemClock.elapsed()
  vi.advanceTimersByTime(20)
  expect(systemClock.elapsed() - before).toBe(20)
})
