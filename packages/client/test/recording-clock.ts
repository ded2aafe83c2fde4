/** The fake clock, with a record of the delays that the client requests. */
import { fakeClock, type FakeClock } from '../../../tooling/test-kit/clock.ts'

/** A fake clock that records its timers. */
export interface RecordingClock extends FakeClock {
  /** All delays so far, in order, in milliseconds. */
  readonly delays: readonly number[]
  /** Delays of the pending timers. */
  readonly waiting: readonly number[]
  /** Resolves as soon as a timer of exactly `delayMs` is pending. */
  timer(delayMs: number): Promise<void>
  /** Waits for a timer of exactly `delayMs`, then advances the clock by that time. */
  pass(delayMs: number): Promise<void>
}

export interface RecordingClockOptions {
  /** Timers up to this delay fire at once, as if the time had passed. @default 0, for no timers */
  readonly skipUpToMs?: number
}

/** Time at which every fake clock starts, in milliseconds since 1970. */
export const START = fakeClock().now()

/** Creates a clock. */
export function recordingClock({ skipUpToMs = 0 }: RecordingClockOptions = {}): RecordingClock {
  const clock = fakeClock()
  const delays: number[] = []
  const waiting = new Set<{ readonly delayMs: number }>()
  const watchers = new Set<() => void>()
  const timer = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (![...waiting].some((one) => one.delayMs === delayMs)) return
        watchers.delete(look)
        resolve()
      }
      watchers.add(look)
      look()
    })
  return {
    now: clock.now,
    elapsed: clock.elapsed,
    advance: clock.advance,
    block: clock.block,
    after(delayMs, callback) {
      const added = { delayMs }
      const stop = clock.after(delayMs, () => {
        waiting.delete(added)
        callback()
      })
      delays.push(delayMs)
      waiting.add(added)
      for (const look of watchers) look()
      if (delayMs <= skipUpToMs) {
        setImmediate(() => {
          if (waiting.has(added)) void clock.advance(delayMs)
        })
      }
      return () => {
        waiting.delete(added)
        stop()
      }
    },
    get pending() {
      return clock.pending
    },
    delays,
    get waiting() {
      return [...waiting].map(({ delayMs }) => delayMs)
    },
    timer,
    async pass(delayMs) {
      await timer(delayMs)
      await clock.advance(delayMs)
    },
  }
}
