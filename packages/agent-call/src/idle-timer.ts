/** Detects silence. */
import type { Clock } from '@tutti/core'

/** Calls `onIdle` once when `touch` was not called for `limitMs`; runs from its construction. */
export class IdleTimer {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #onIdle: () => void
  #lastAt: number
  #pauses = 0
  #stopTimer: (() => void) | undefined

  constructor(clock: Clock, limitMs: number, onIdle: () => void) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#onIdle = onIdle
    this.#lastAt = clock.elapsed()
    if (limitMs !== Infinity) this.#wait(limitMs)
  }

  /** Restarts the time. The running timer is not replaced; it checks the last touch when it fires. */
  touch(): void {
    this.#lastAt = this.#clock.elapsed()
  }

  /** Pauses until `resume` was called as often as `pause`. */
  pause(): void {
    this.#pauses += 1
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  /** Starts from the beginning after the last pause. */
  resume(): void {
    this.#pauses -= 1
    if (this.#pauses > 0 || this.#limitMs === Infinity) return
    this.touch()
    this.#wait(this.#limitMs)
  }

  #wait(ms: number): void {
    this.#stopTimer = this.#clock.after(ms, () => {
      const leftMs = this.#limitMs - (this.#clock.elapsed() - this.#lastAt)
      if (leftMs > 0) this.#wait(leftMs)
      else this.#onIdle()
    })
  }
}
