/** Shares work in flight between callers. */

interface Flight<T> {
  readonly work: Promise<T>
  readonly stop: AbortController
  waiting: number
}

/** Runs one operation at a time, shared by all callers that join while it is in flight. */
export class SharedFlight<T> {
  #flight: Flight<T> | undefined

  /** Joins the operation in flight, or begins it. It is aborted when no caller waits for it. */
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
    // Waiting callers get the rejection; without callers it must not be unhandled.
    work.catch(() => undefined)
    return { work, stop, waiting: 0 }
  }

  #land(flight: Flight<T>): void {
    if (this.#flight === flight) this.#flight = undefined
    flight.stop.abort()
  }
}
