import type { InFlight } from '../work/in-flight.ts'

/**
 * Counts the operations in flight of one handler as threads of its run. The handler itself counts as working only while
 * no operation is in flight: otherwise it waits.
 */
export class HandlerThreads {
  readonly #inFlight: InFlight
  #running = 0
  /** Number of ended operations that still count. */
  #ended = 0

  constructor(inFlight: InFlight) {
    this.#inFlight = inFlight
  }

  /** Counts an operation that begins. The first one takes the thread of the handler. */
  begin(): void {
    if (this.#running > 0) this.#inFlight.beginTask()
    this.#running += 1
  }

  /**
   * Counts the end of an operation in the next turn of the event loop, when the handler has received the result: until then
   * the run does not only wait.
   */
  end(): void {
    this.#ended += 1
    if (this.#ended > 1) return
    setImmediate(() => {
      this.release()
    })
  }

  /** Counts the ends of all operations now. */
  release(): void {
    for (; this.#ended > 0; this.#ended -= 1) {
      this.#running -= 1
      if (this.#running > 0) this.#inFlight.endTask()
    }
  }
}
