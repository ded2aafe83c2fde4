/** The clock port: whatever waits or tells the time here does it through one, so that tests need no real time. */

/** Tells the time and wakes up later. Any clock of `@tutti/core` or `@tutti/testing` fits. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds from an arbitrary start, never going back, for durations. */
  elapsed(): number
  /** Calls `callback` once after `delayMs`, unless the returned function is called before. */
  after(delayMs: number, callback: () => void): () => void
}

/** Beyond this, timers of browsers and Node fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** The clock of this machine. A delay of more than 24 days is cut to 24 days. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS))
    return () => {
      clearTimeout(timer)
    }
  },
}
