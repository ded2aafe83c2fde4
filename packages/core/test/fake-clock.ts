/**
 * A clock that moves only when it is told to. `@tutti/testing` publishes a fuller one, but builds on
 * this package, so its tests have their own.
 */
import type { Clock } from '../src/index.ts'

/** A clock for the tests of this package. */
export interface FakeClock extends Clock {
  /** Moves time on by `ms`, calls what is due, in order, and lets promises that this settles run. */
  advance(ms: number): Promise<void>
  /** Timers that are waiting. */
  readonly pending: number
}

/** Makes a clock that stands at 2026-01-01. */
export function fakeClock(): FakeClock {
  let elapsed = 0
  const timers = new Map<() => void, number>()
  return {
    now: () => Date.UTC(2026, 0, 1) + elapsed,
    elapsed: () => elapsed,
    after(delayMs, callback) {
      const timer = (): void => {
        callback()
      }
      timers.set(timer, elapsed + delayMs)
      return () => {
        timers.delete(timer)
      }
    },
    async advance(ms) {
      const until = elapsed + ms
      await settle()
      for (let due = first(timers, until); due !== undefined; due = first(timers, until)) {
        elapsed = timers.get(due) ?? elapsed
        timers.delete(due)
        due()
        await settle()
      }
      elapsed = until
    },
    get pending() {
      return timers.size
    },
  }
}

/** Lets every promise that is ready run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

function first(timers: ReadonlyMap<() => void, number>, until: number): (() => void) | undefined {
  const [next] = [...timers].filter(([, at]) => at <= until).toSorted(([, a], [, b]) => a - b)
  return next?.[0]
}
