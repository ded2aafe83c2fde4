/** What ends waiting from outside. */

/** Lets one piece of code wait for things until somebody interrupts it, once and for all. */
export class Interruption {
  #reason: { readonly error: Error } | undefined
  #reject: ((error: Error) => void) | undefined

  /** Throws the reason when somebody has interrupted. */
  throwIfHappened(): void {
    if (this.#reason !== undefined) throw this.#reason.error
  }

  /** Ends the wait that is under way, and every later one. Only the first reason counts. */
  interrupt(error: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = { error }
    this.#reject?.(error)
  }

  /** What the promise gives, or the reason of the interruption, whichever is first. One wait at a time. */
  wait<T>(promise: Promise<T>): Promise<T> {
    if (this.#reason !== undefined) {
      promise.catch(() => undefined)
      return Promise.reject(this.#reason.error)
    }
    return new Promise((resolve, reject) => {
      this.#reject = reject
      promise.then(resolve, reject)
    })
  }
}
