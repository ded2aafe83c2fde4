/** Time limit of one call, which is paused while a reviewer decides. */
import type { Clock } from '../clock.ts'

/** Time limit that runs from `start` until `end` and can be paused. */
export class Deadline {
  readonly #clock: Clock
  readonly #onPassed: () => void
  #leftMs: number
  #startedAt = 0
  #pauses = 0
  #ended = false
  #stopTimer: (() => void) | undefined

  constructor(clock: Clock, limitMs: number, onPassed: () => void) {
    this.#clock = clock
    this.#leftMs = limitMs
    this.#onPassed = onPassed
  }

  /** Starts, or continues after the last pause; does nothing while it runs or after it has ended. */
  start(): void {
    if (this.#ended || this.#pauses > 0 || this.#leftMs === Infinity) return
    if (this.#stopTimer !== undefined) return
    this.#startedAt = this.#clock.elapsed()
    this.#stopTimer = this.#clock.after(this.#leftMs, this.#onPassed)
  }

  /** Returns the remaining time in milliseconds. */
  leftMs(): number {
    if (this.#stopTimer === undefined) return this.#leftMs
    return Math.max(0, this.#leftMs - (this.#clock.elapsed() - this.#startedAt))
  }

  /** Pauses until `resume` was called as often as `pause`. */
  pause(): void {
    this.#pauses += 1
    if (this.#stopTimer === undefined) return
    this.#leftMs = this.leftMs()
    this.#stop()
  }

  resume(): void {
    this.#pauses -= 1
    this.start()
  }

  /** Stops the limit for good, because the call has ended. */
  end(): void {
    this.#ended = true
    this.#stop()
  }

  #stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }
}
