/**
 * Measures the lease of this process by its own monotonic clock. The store starts measuring when it gets the request to
 * extend it, so the lease never ends here after it has ended there.
 */
import type { Clock } from '@tutti/core'

/** Options of {@link LeaseTimer}. */
export interface LeaseTimerOptions {
  readonly clock: Clock
  /** Duration of the lease in milliseconds; Infinity for a lease that never ends. */
  readonly leaseMs: number
  /** Called at the end of the lease, so many milliseconds too late. */
  readonly onEnd: (lateMs: number) => void
}

/** The time until the lease ends. */
export class LeaseTimer {
  readonly #options: LeaseTimerOptions
  #endsAt = -Infinity
  #stopTimer: (() => void) | undefined

  constructor(options: LeaseTimerOptions) {
    this.#options = options
  }

  /** Extends the lease by a request that was sent at `sentAt`, by `Clock.elapsed`, and that the store has confirmed. */
  extend(sentAt: number): void {
    const { clock, leaseMs } = this.#options
    if (leaseMs === Infinity || sentAt + leaseMs <= this.#endsAt) return
    this.#endsAt = sentAt + leaseMs
    this.stop()
    this.#stopTimer = clock.after(Math.max(this.#endsAt - clock.elapsed(), 0), () => {
      this.#stopTimer = undefined
      this.#options.onEnd(clock.elapsed() - this.#endsAt)
    })
  }

  /** Stops the timer. */
  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }
}
