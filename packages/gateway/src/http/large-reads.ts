/**
 * Limits the number of large answers that are built at the same time, and so their memory.
 *
 * GW-X1 At most `AT_ONCE` answers are built at a time; the others wait in order.
 * GW-X2 Before each answer, readers that hold too much unread data are dropped.
 * GW-X3 The turn of a client that has disconnected passes to the next one at once.
 *
 * Each answer begins in its own pass of the event loop, because building one blocks the thread for some milliseconds.
 */
import { readTurn } from '@tutti/runs'

/** Number of answers built at the same time. While one waits for the store, another uses the processor. */
const AT_ONCE = 2

/** Queue for building large answers. */
export class LargeReads {
  readonly #makeRoom: () => void
  readonly #waiting: (() => void)[] = []
  #building = 0

  constructor(makeRoom: () => void) {
    this.#makeRoom = makeRoom
  }

  /**
   * Builds an answer when its turn comes.
   *
   * @throws the reason of `signal` when it has aborted by then.
   */
  async run<T>(build: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#building >= AT_ONCE) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#building += 1
    try {
      signal?.throwIfAborted()
      await readTurn()
      this.#makeRoom()
      return await build()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#building -= 1
      else next()
    }
  }
}
