/** A clock on which every wait is over at once, and is remembered. */
import type { Clock } from '@tutti/core'

export interface InstantClock extends Clock {
  /** The waits so far, in milliseconds. */
  readonly waits: readonly number[]
}

export function instantClock(): InstantClock {
  const waits: number[] = []
  return {
    waits,
    now: () => 0,
    elapsed: () => 0,
    after(delayMs, callback) {
      waits.push(delayMs)
      let stopped = false
      queueMicrotask(() => {
        if (!stopped) callback()
      })
      return () => {
        stopped = true
      }
    },
  }
}
