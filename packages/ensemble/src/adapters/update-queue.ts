/** Passes updates to one reader, in order. */
export class AgentUpdates<T> {
  #waiting: T[] = []
  #closed = false
  #wake: (() => void) | undefined

  /** Adds an update. */
  add(update: T): void {
    this.#waiting.push(update)
    this.#wake?.()
  }

  /** Closes the queue when the promise settles. */
  closeWith(end: Promise<unknown>): void {
    const close = (): void => {
      this.#closed = true
      this.#wake?.()
    }
    end.then(close, close)
  }

  /** Yields every update in order until the queue is closed. For one reader. */
  async *updates(): AsyncGenerator<T, void> {
    for (;;) {
      const ready = this.#waiting
      this.#waiting = []
      yield* ready
      if (this.#waiting.length > 0) continue
      if (this.#closed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
