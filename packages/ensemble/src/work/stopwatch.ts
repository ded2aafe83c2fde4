/** A stopwatch for working time, which stops while reviews are open and has limits. */
import type { Clock } from '@tutti/core'

interface Limit {
  readonly ms: number
  readonly callback: () => void
  stop: (() => void) | undefined
}

/** Measures working time. */
export class Stopwatch {
  /** Time of the clock at which it began, counting back the time that it began with. */
  readonly startedAt: number
  readonly #clock: Clock
  readonly #onHold: ((held: boolean) => void) | undefined
  #limits: Set<Limit> | undefined
  #before: number
  /** Time at which it started; undefined while it is stopped. */
  #since: number | undefined
  #holds = 0

  /** Starts at `before` milliseconds; `onHold` is called when it stops and when it continues. */
  constructor(clock: Clock, before = 0, onHold?: (held: boolean) => void) {
    this.#clock = clock
    this.#before = before
    this.#onHold = onHold
    this.#since = clock.elapsed()
    this.startedAt = this.#since - before
  }

  /** Returns the working time so far in milliseconds. */
  elapsed(): number {
    return this.elapsedAt(this.#clock.elapsed())
  }

  /** Returns the working time until `now`, the present time of the clock, in milliseconds. */
  elapsedAt(now: number): number {
    return this.#before + (this.#since === undefined ? 0 : now - this.#since)
  }

  /** Pauses until every hold is released. Returns the function that releases this one. */
  hold(): () => void {
    if (this.#holds === 0) {
      this.#before = this.elapsed()
      this.#since = undefined
      for (const limit of this.#limits ?? []) limit.stop?.()
      this.#onHold?.(true)
    }
    this.#holds += 1
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#holds -= 1
      if (this.#holds > 0) return
      this.#since = this.#clock.elapsed()
      for (const limit of this.#limits ?? []) this.#arm(limit)
      this.#onHold?.(false)
    }
  }

  /**
   * Calls `callback` once when `ms` of working time have passed, unless the returned function is called
   * before.
   */
  onReach(ms: number, callback: () => void): () => void {
    const limit: Limit = { ms, callback, stop: undefined }
    this.#limits ??= new Set()
    this.#limits.add(limit)
    if (this.#since !== undefined) this.#arm(limit)
    return () => {
      limit.stop?.()
      this.#limits?.delete(limit)
    }
  }

  /** Like {@link Stopwatch.onReach}, but calls `callback` at once if that time has passed already. */
  onReachOrNow(ms: number, callback: () => void): () => void {
    if (this.elapsed() < ms) return this.onReach(ms, callback)
    callback()
    return () => undefined
  }

  #arm(limit: Limit): void {
    limit.stop = this.#clock.after(Math.max(0, limit.ms - this.elapsed()), () => {
      this.#limits?.delete(limit)
      limit.callback()
    })
  }
}
