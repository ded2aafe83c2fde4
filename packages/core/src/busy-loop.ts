/**
 * Lets a loop over foreign values leave the event loop to other work: a source that always has its next value ready would
 * otherwise starve timers, sockets and cancels, because promises that are settled never let the event loop continue.
 */

/** Number of values after which a loop pauses: a few milliseconds of work. Unlike a time, it does not depend on the machine. */
const MAX_VALUES = 1_000

/** One loop over values that may all be ready. */
export class BusyLoop {
  #values = 0

  /** Counts a value. Returns a promise that resolves after one pass of the event loop at every 1,000th; otherwise undefined. */
  pause(): Promise<void> | undefined {
    this.#values += 1
    if (this.#values % MAX_VALUES !== 0) return undefined
    return new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
