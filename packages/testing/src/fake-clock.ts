/** A clock that moves only when a test advances it. */
import type { Clock } from '@tutti/core'

/** A clock for tests. */
export interface FakeClock extends Clock {
  /**
   * Advances the time by `ms` and calls the timers that are due, in order. When it resolves, promises that
   * they settled have run.
   */
  advance(ms: number): Promise<void>
  /** Advances the time by `ms` and calls no timer, as when the event loop is blocked. The next `advance` calls them late. */
  block(ms: number): void
  /** Number of waiting timers. */
  readonly pending: number
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** Creates a clock that starts at `startMs`, in milliseconds since 1970. */
export function fakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let now = startMs
  const timers = new Set<Timer>()
  const nextDue = (until: number): Timer | undefined => {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.at <= until && (next === undefined || timer.at < next.at)) next = timer
    }
    return next
  }
  return {
    now: () => now,
    elapsed: () => now - startMs,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return () => {
        timers.delete(timer)
      }
    },
    async advance(ms) {
      const until = now + ms
      await settle()
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer)
        now = Math.max(now, timer.at)
        timer.callback()
        await settle()
      }
      now = Math.max(now, until)
    },
    block(ms) {
      now += ms
    },
    get pending() {
      return timers.size
    },
  }
}

/** Waits one turn of the event loop, so that all ready promises run. A timer would wait a real millisecond. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve, 0)
  })
}
