/** A clock whose timers let this process exit: those of programs that only stand by. */
import { systemClock, type Clock } from '@tutti/core'

/** The same clock; with the system's, timers that do not keep this process alive. */
export function quietClock(clock: Clock): Clock {
  return clock === systemClock ? QUIET_SYSTEM_CLOCK : clock
}

const QUIET_SYSTEM_CLOCK: Clock = {
  ...systemClock,
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => {
      clearTimeout(timer)
    }
  },
}
