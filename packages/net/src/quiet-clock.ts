import { systemClock, type Clock } from '@tutti/core'

/** The clock of this machine, with timers that let the process end. */
export const quietSystemClock: Clock = {
  ...systemClock,
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs).unref()
    return () => {
      clearTimeout(timer)
    }
  },
}

/** Returns the same clock; for that of the system, one with timers that let the process end. */
export function quietClock(clock: Clock): Clock {
  return clock === systemClock ? quietSystemClock : clock
}
