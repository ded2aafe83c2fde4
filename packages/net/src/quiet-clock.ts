import { systemClock, type Clock } from '@tutti/core'
import { startTimer } from '@tutti/core/internal'

/** The system's clock, with timers that do not keep the process alive. */
export const quietSystemClock: Clock = {
  ...systemClock,
  after: (delayMs, callback) => startTimer(delayMs, callback, (timer) => timer.unref()),
}

/** Returns {@link quietSystemClock} for the system's clock, and any other clock unchanged. */
export function quietClock(clock: Clock): Clock {
  return clock === systemClock ? quietSystemClock : clock
}
