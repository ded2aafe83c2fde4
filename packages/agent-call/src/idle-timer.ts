/** Notices that nothing arrives any more. */
import type { Clock } from '@tutti/core'

/** Calls once when nothing happened for `limitMs`; it runs from when it is made. */
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

  /** Something happened. A timer is not set anew for each piece: it looks again when it rings. */
  touch(): void {
    this.#lastAt = this.#clock.elapsed()
  }

  /** Stands still until `resume` was called as often. */
  pause(): void {
    this.#pauses += 1
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  /** Starts anew, after the last pause. */
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
