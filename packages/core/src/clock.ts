/** Functions on the clock port of `@tutti/protocol`. */
import type { Clock } from '@tutti/protocol/basics'

export { MAX_TIMER_MS, startTimer, systemClock, type Clock } from '@tutti/protocol/basics'

/** Last formatted millisecond and its text; many events share one millisecond. */
let lastMs = Number.NaN
let lastText = ''

/** Returns the time of `clock` as ISO 8601 text in UTC, the form of the wire. */
export function isoNow(clock: Clock): string {
  return toIsoText(clock.now())
}

/** Returns a time in milliseconds since 1970 as ISO 8601 text in UTC. */
export function toIsoText(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString()
    lastMs = ms
  }
  return lastText
}

/** Resolves after `delayMs`, or as soon as `signal` aborts; never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const wake = (): void => {
      stop()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const stop = clock.after(delayMs, wake)
    signal?.addEventListener('abort', wake)
  })
}
