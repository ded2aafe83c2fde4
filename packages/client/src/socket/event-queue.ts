/**
 * Hands events from a socket to a loop.
 *
 * Q1 Events wait in order for the loop, also those that come before it begins.
 * Q2 When more than `maxWaiting` wait, the loop gets what is there, and then SLOW_READER.
 * Q3 After the end nothing more comes in; what waits is still given.
 */
import { TuttiClientError } from '../errors.ts'

/** Events on their way to one loop. */
export class EventQueue<T> {
  readonly #waiting: T[] = []
  readonly #maxWaiting: number
  readonly #onLeave: () => void
  #wake: (() => void) | undefined
  #end: { readonly error?: unknown } | undefined

  /** `onLeave` is told when the loop is left. */
  constructor(maxWaiting: number, onLeave: () => void) {
    this.#maxWaiting = maxWaiting
    this.#onLeave = onLeave
  }

  /** Takes an event; gives the error with which the feed has ended when too many wait. */
  push(event: T): TuttiClientError | undefined {
    if (this.#end !== undefined) return undefined
    if (this.#waiting.length >= this.#maxWaiting) {
      const message = `A loop over events must keep up, ${this.#maxWaiting} events wait for it`
      const error = new TuttiClientError('SLOW_READER', message)
      this.end({ error })
      return error
    }
    this.#waiting.push(event)
    this.#wake?.()
    return undefined
  }

  /** Ends the feed, with an error when it has failed. The first end counts. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end
    this.#wake?.()
  }

  /** The loop. */
  async *read(): AsyncGenerator<T, void> {
    try {
      for (;;) {
        const next = this.#waiting.shift()
        if (next !== undefined) {
          yield next
          continue
        }
        if (this.#end !== undefined) break
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
      if ('error' in this.#end) throw this.#end.error
    } finally {
      this.#onLeave()
    }
  }
}
