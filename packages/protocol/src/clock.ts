/**
 * The clock port. All code of Tutti that waits or reads the time uses a clock, so that tests need no real time (`fakeClock`
 * in `@tutti/testing`).
 */

/** Source of the time and of timers. */
export interface Clock {
  /** Returns milliseconds since 1970, for timestamps. */
  now(): number
  /** Returns milliseconds from an arbitrary start, never decreasing, for durations. */
  elapsed(): number
  /** Calls `callback` once after `delayMs`, unless the returned function is called before. */
  after(delayMs: number, callback: () => void): () => void
}

/**
 * Maximum delay of one timer of the platform, in milliseconds: 2^31 - 1. With a longer one, browsers and Node fire at once.
 *
 * @see https://developer.mozilla.org/en-US/docs/Web/API/Window/setTimeout#maximum_delay_value
 */
export const MAX_TIMER_MS = 2_147_483_647

/** Clock of this machine. Delays can have any length; an infinite one never fires. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (delayMs, callback) => startTimer(delayMs, callback),
}

/**
 * Starts a timer of any length, which consists of timers of at most {@link MAX_TIMER_MS}. `onStart` receives each of
 * them. Returns the function that stops it.
 */
export function startTimer(
  delayMs: number,
  callback: () => void,
  onStart?: (timer: ReturnType<typeof setTimeout>) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = (leftMs: number): void => {
    timer =
      leftMs <= MAX_TIMER_MS
        ? setTimeout(callback, leftMs)
        : setTimeout(() => {
            wait(leftMs - MAX_TIMER_MS)
          }, MAX_TIMER_MS)
    onStart?.(timer)
  }
  wait(delayMs)
  return () => {
    clearTimeout(timer)
  }
}
