/**
 * The clock of runs. The system clock of a machine can be set while a process lives, by NTP or by an administrator.
 * Deadlines, delays and leases must not move then.
 *
 * RUNS-TI1 A step of the system clock of at least {@link MIN_STEP_MS} does not change the clock of a process that lives:
 *    nothing becomes due earlier or later. After a restart, the system clock counts.
 * RUNS-TI2 Smaller corrections are followed, so that the clock does not drift away from that of other machines. The clock
 *    never goes back.
 * RUNS-TI3 Time in which the machine was suspended passes.
 */
import { uptime } from 'node:os'

import { systemClock, type Clock } from '@tutti/core'

/** Minimum size of a step that is ignored, in milliseconds. Smaller ones move a deadline by less than a second. */
export const MIN_STEP_MS = 1_000

/** A clock that ignores steps of the clock that it reads. */
export interface SteadyClock extends Clock {
  /** Sum of the steps that were ignored so far, in milliseconds; negative if the other clock was set back. */
  readonly ignoredMs: number
}

/**
 * Creates a steady clock that starts with the present of `clock`. `uptimeMs` returns the time since the start of the machine in
 * milliseconds, including the time in which it was suspended; `Clock.elapsed` does not include it on Linux.
 */
export function createSteadyClock(
  clock: Clock = systemClock,
  uptimeMs: () => number = () => uptime() * 1_000,
): SteadyClock {
  let ignoredMs = 0
  let latest = -Infinity
  let offset = clock.now() - clock.elapsed()
  let suspendedMs = uptimeMs() - clock.elapsed()
  const readSuspension = (): number => {
    const before = suspendedMs
    suspendedMs = uptimeMs() - clock.elapsed()
    return suspendedMs - before
  }
  return {
    now() {
      const now = clock.now()
      const step = now - clock.elapsed() - offset
      offset += step
      if (Math.abs(step) >= MIN_STEP_MS) ignoredMs += Math.round(step - readSuspension())
      latest = Math.max(latest, now - ignoredMs)
      return latest
    },
    elapsed: () => clock.elapsed(),
    after: (delayMs, callback) => clock.after(delayMs, callback),
    get ignoredMs() {
      return ignoredMs
    },
  }
}

/** Whether a clock ignores steps. */
export function isSteady(clock: Clock): clock is SteadyClock {
  return 'ignoredMs' in clock
}

/** The steady clock of this process. The run service and the embedded store share it, so that they agree after a step. */
export const steadyClock: SteadyClock = createSteadyClock()
