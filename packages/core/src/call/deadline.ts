/** The time limit of one call. It stands still while a person decides. */
import type { Clock } from '../clock.ts'

/** A limit that runs from `start` until `end`, and that can be paused in between. */
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

  /** Starts, or goes on after the last pause; does nothing when it runs or has ended. */
  start(): void {
    if (this.#ended || this.#pauses > 0 || this.#leftMs === Infinity) return
    if (this.#stopTimer !== undefined) return
    this.#startedAt = this.#clock.elapsed()
    this.#stopTimer = this.#clock.after(this.#leftMs, this.#onPassed)
  }

  /** What is left of it, in milliseconds. */
  leftMs(): number {
    if (this.#stopTimer === undefined) return this.#leftMs
    return Math.max(0, this.#leftMs - (this.#clock.elapsed() - this.#startedAt))
  }

  /** Stands still until `resume` was called as often as `pause`. */
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

  /** The call has ended: the limit never passes any more. */
  end(): void {
    this.#ended = true
    this.#stop()
  }

  #stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }
}
