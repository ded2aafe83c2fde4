import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { quietSystemClock } from './quiet-clock.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

it('The quiet clock waits for a delay that one timer cannot hold', () => {
  const days = 24 * 60 * 60 * 1_000
  const called = vi.fn<() => void>()
  quietSystemClock.after(60 * days, called)
  vi.advanceTimersByTime(60 * days - 1)
  expect(called).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(called).toHaveBeenCalledOnce()
})

it('The quiet clock stops a timer', () => {
  const called = vi.fn<() => void>()
  quietSystemClock.after(Infinity, called)()
  expect(vi.getTimerCount()).toBe(0)
  expect(called).not.toHaveBeenCalled()
})
