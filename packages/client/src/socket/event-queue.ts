/**
 * Passes events from a socket to a loop.
 *
 * CLIENT-Q1 Events wait for the loop in order, including those that arrive before it begins.
 * CLIENT-Q2 When more than `maxWaiting` events wait, the loop receives the waiting ones, then SLOW_READER.
 * CLIENT-Q3 After the end no event is added; the loop still receives the waiting ones.
 */
import { TuttiClientError } from '../errors.ts'

/** Events that wait for one loop. */
export class EventQueue<T> {
  readonly #waiting: T[] = []
  readonly #maxWaiting: number
  readonly #onLeave: () => void
  #wake: (() => void) | undefined
  #end: { readonly error?: unknown } | undefined

  /** `onLeave` is called when the loop ends. */
  constructor(maxWaiting: number, onLeave: () => void) {
    this.#maxWaiting = maxWaiting
    this.#onLeave = onLeave
  }

  /** Adds an event; returns the error if this ended the queue because too many events wait. */
  push(event: T): TuttiClientError | undefined {
    if (this.#end !== undefined) return undefined
    if (this.#waiting.length >= this.#maxWaiting) {
      const message = `The reader is too slow: ${this.#maxWaiting} events are waiting`
      const error = new TuttiClientError('SLOW_READER', message)
      this.end({ error })
      return error
    }
    this.#waiting.push(event)
    this.#wake?.()
    return undefined
  }

  /** Ends the queue, with an error if it failed. Only the first end counts. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end
    this.#wake?.()
  }

  /** Yields the events. */
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
