/**
 * The clock port. Everything in Tutti that waits or tells the time does it through a clock, so that tests need no real
 * time (`fakeClock` in `@tutti/testing`).
 */

/** Tells the time and wakes up later. */
export interface Clock {
  /** Milliseconds since 1970, for instants that people read. */
  now(): number
  /** Milliseconds from an arbitrary start, never going back, for durations. */
  elapsed(): number
  /** Calls `callback` once after `delayMs`, unless the returned function is called before. */
  after(delayMs: number, callback: () => void): () => void
}

/** Beyond this, the timers of browsers and Node fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** The clock of this machine. A delay may be of any length; one without end never fires. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, callback) {
    let timer: ReturnType<typeof setTimeout> | undefined
    const wait = (leftMs: number): void => {
      timer =
        leftMs <= LONGEST_TIMER_MS
          ? setTimeout(callback, leftMs)
          : setTimeout(() => {
              wait(leftMs - LONGEST_TIMER_MS)
            }, LONGEST_TIMER_MS)
    }
    wait(delayMs)
    return () => {
      clearTimeout(timer)
    }
  },
}
