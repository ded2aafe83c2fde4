/** A clock that only moves when a test advances it. */
import type { Clock } from '@tutti/core'

/** A clock for tests. */
export interface FakeClock extends Clock {
  /**
   * Moves time on by `ms` and calls what is due, in order; promises that this settles have run when
   * it resolves.
   */
  advance(ms: number): Promise<void>
  /** Timers that are waiting. */
  readonly pending: number
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** Makes a clock that stands at `startMs`, milliseconds since 1970. */
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
    get pending() {
      return timers.size
    },
  }
}

/** Lets every promise that is ready run, by one turn of the event loop. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
