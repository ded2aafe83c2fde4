/** Work that many wait for and that is done once. */

interface Flight<T> {
  readonly work: Promise<T>
  readonly stop: AbortController
  waiting: number
}

/** One piece of work at a time, shared by all who ask for it while it is under way. */
export class SharedFlight<T> {
  #flight: Flight<T> | undefined

  /** The outcome of the work that is under way, or that begins. It is aborted when nobody waits any more. */
  async join(begin: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const flight = (this.#flight ??= this.#start(begin))
    flight.waiting += 1
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = (): void => {
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([flight.work, aborted])
    } finally {
      signal.removeEventListener('abort', onAbort)
      flight.waiting -= 1
      if (flight.waiting === 0) this.#land(flight)
    }
  }

  #start(begin: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController()
    const work = begin(stop.signal)
    // Who waits is told; that nobody does is no reason to fail.
    work.catch(() => undefined)
    return { work, stop, waiting: 0 }
  }

  #land(flight: Flight<T>): void {
    if (this.#flight === flight) this.#flight = undefined
    flight.stop.abort()
  }
}
