/** Measures how long a run works, for the deadlines of callers. */
import { RunProjection } from '@tutti/protocol'

import type { Clock } from '@tutti/core'
import type { RunService } from '@tutti/runs'

/** A time limit that can be paused. It counts from its creation. */
export class RemainingTime {
  readonly #clock: Clock
  #leftMs: number
  /** Time at which it continued, as `Clock.elapsed`; undefined while it is paused. */
  #since: number | undefined

  constructor(clock: Clock, timeMs: number) {
    this.#clock = clock
    this.#leftMs = timeMs
    this.#since = clock.elapsed()
  }

  /** Remaining time in milliseconds; 0 when it has passed. */
  get leftMs(): number {
    const worked = this.#since === undefined ? 0 : this.#clock.elapsed() - this.#since
    return Math.max(0, this.#leftMs - worked)
  }

  get isPaused(): boolean {
    return this.#since === undefined
  }

  pause(): void {
    this.#leftMs = this.leftMs
    this.#since = undefined
  }

  resume(): void {
    this.#since ??= this.#clock.elapsed()
  }
}

/** A run, and the time that it may work. */
export interface TimedRun {
  readonly runs: Pick<RunService, 'follow'>
  readonly clock: Clock
  readonly runId: string
  readonly countdown: RemainingTime
  /** Ends the wait. */
  readonly signal: AbortSignal
}

/**
 * Waits until the time passes, the run ends, or `signal` aborts; returns whether the time has passed. The countdown is
 * paused while the run waits only for decisions of people.
 *
 * @throws {TuttiError} STORE_UNAVAILABLE when the events of the run cannot be read. The countdown continues.
 */
export async function exceedsWorkingTime(timed: TimedRun): Promise<boolean> {
  const { runs, clock, runId, countdown, signal } = timed
  const passed = new AbortController()
  const run = new RunProjection()
  let stopTimer = (): void => undefined
  const arm = (): void => {
    stopTimer()
    countdown.resume()
    stopTimer = clock.after(countdown.leftMs, () => passed.abort())
  }
  arm()
  try {
    const stop = AbortSignal.any([signal, passed.signal])
    for await (const events of runs.follow({ runId, from: 0, signal: stop })) {
      for (const event of events) run.take(event)
      if (run.isWaiting && run.reviews.some(({ kind }) => kind !== 'CLIENT_TOOL')) {
        stopTimer()
        countdown.pause()
      } else if (countdown.isPaused) arm()
    }
    return passed.signal.aborted && !signal.aborted
  } finally {
    stopTimer()
    countdown.resume()
  }
}
