/**
 * Lets a loop over foreign values leave the event loop to other work: a source that always has its next value ready would
 * otherwise starve timers, sockets and cancels, because promises that are settled never let the event loop continue.
 */
import type { Clock } from './clock.ts'

/** Time after which a loop pauses, in milliseconds. */
const MAX_BUSY_MS = 10

/** One loop over values that may all be ready. */
export class BusyLoop {
  readonly #clock: Pick<Clock, 'elapsed'>
  #since: number

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
    this.#since = clock.elapsed()
  }

  /**
   * Returns a promise that resolves after one pass of the event loop, if 10 ms have passed since the last one or since the
   * start of the loop; otherwise undefined. The time in which the loop waited for a value counts too: a pause after it
   * costs little.
   */
  pause(): Promise<void> | undefined {
    if (this.#clock.elapsed() - this.#since < MAX_BUSY_MS) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#since = this.#clock.elapsed()
        resolve()
      })
    })
  }
}
