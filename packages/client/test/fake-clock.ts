/** A clock that moves only when it is told to, or at once for short waits. */
import type { Clock } from '../src/index.ts'

/** A clock for tests. */
export interface FakeClock extends Clock {
  /** Every delay that was asked for, in order. */
  readonly delays: readonly number[]
  /** Delays of the timers that wait now. */
  readonly waiting: readonly number[]
  /** Resolves as soon as a timer of exactly `delayMs` waits. */
  timer(delayMs: number): Promise<void>
  /** Waits until a timer of exactly `delayMs` waits, then lets that time pass. */
  pass(delayMs: number): Promise<void>
  /** Lets time pass with no timer in mind. */
  advance(ms: number): void
}

/** Settings of a fake clock. */
export interface FakeClockOptions {
  /** Timers up to this delay fire at once, as if the time had passed. @default 0, none do */
  readonly impatientUpToMs?: number
}

interface Timer {
  readonly at: number
  readonly delayMs: number
  readonly callback: () => void
}

/** The instant at which every fake clock begins. */
export const START = Date.UTC(2026, 0, 1)

/** Makes a clock. */
export function fakeClock({ impatientUpToMs = 0 }: FakeClockOptions = {}): FakeClock {
  let elapsed = 0
  const delays: number[] = []
  const timers = new Set<Timer>()
  const watchers = new Set<() => void>()
  const advance = (ms: number): void => {
    elapsed += ms
    for (const due of timers) {
      if (due.at > elapsed) continue
      timers.delete(due)
      due.callback()
    }
  }
  const hasTimer = (delayMs: number): boolean =>
    [...timers].some((waiting) => waiting.delayMs === delayMs)
  const timer = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!hasTimer(delayMs)) return
        watchers.delete(look)
        resolve()
      }
      watchers.add(look)
      look()
    })
  return {
    now: () => START + elapsed,
    elapsed: () => elapsed,
    after(delayMs, callback) {
      const added = { at: elapsed + delayMs, delayMs, callback }
      delays.push(delayMs)
      timers.add(added)
      for (const look of watchers) look()
      if (delayMs <= impatientUpToMs) {
        setImmediate(() => {
          if (timers.has(added)) advance(delayMs)
        })
      }
      return () => {
        timers.delete(added)
      }
    },
    delays,
    get waiting() {
      return [...timers].map(({ delayMs }) => delayMs)
    },
    timer,
    async pass(delayMs) {
      await timer(delayMs)
      advance(delayMs)
    },
    advance,
  }
}
