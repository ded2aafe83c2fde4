/**
 * Limits the number of large answers that are built at the same time, and so their memory.
 *
 * GW-X1 At most `AT_ONCE` answers are built at a time, and those of one key only leave as many free. The keys of the others
 *    take turns, and then their connections.
 * GW-X2 Before each answer, readers that hold too much unread data are dropped.
 * GW-X3 The turn of a client that has disconnected passes to the next one at once.
 * GW-X4 A read that waits takes `WAITING_BYTES` of the budget, so their number is limited: a thousand sockets may open at
 *    once on a small heap. One that is built takes `READ_BYTES`. A finished answer takes its size until its request has
 *    been answered.
 *
 * Each answer begins in its own pass of the event loop, because building one blocks the thread for some milliseconds.
 */
import {
  ByteBudget,
  currentSource,
  FairQueue,
  readTurn,
  type Reservation,
} from '@tutti/runs/internal'

/**
 * Maximum number of answers built at the same time: two of one key, so that one uses the processor while another waits for
 * the store, and at least one of each further key.
 */
const AT_ONCE = 4

/** Bytes of the budget for a waiting read: its request and its queue entry. */
const WAITING_BYTES = 10_000

/** Bytes of the budget for a read that is built: a page of a log. */
const READ_BYTES = 250_000

/** Queue for building large answers. */
export class LargeReads {
  readonly #makeRoom: () => void
  readonly #budget: ByteBudget
  readonly #waiting = new FairQueue<() => void>()
  /** Counts the answers that are being built; each is one of {@link AT_ONCE}. */
  readonly #building = new ByteBudget(AT_ONCE)

  constructor(makeRoom: () => void, budget: ByteBudget) {
    this.#makeRoom = makeRoom
    this.#budget = budget
  }

  /**
   * Builds an answer when its turn comes.
   *
   * @throws the reason of `signal` when it has aborted by then.
   * @throws {TuttiError} OVERLOADED when the budget has no room.
   */
  async run<T>(build: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const source = currentSource()
    const reading = this.#budget.reserve(source.key, WAITING_BYTES)
    const answer = await this.#runInTurn(reading, build, signal)
    if (answer instanceof Uint8Array) source.held?.grow(answer.byteLength)
    return answer
  }

  /** Builds the answer to a request whose work is done, when its turn comes. It is never refused. */
  async finish<T>(build: () => Promise<T>): Promise<T> {
    const reading = this.#budget.hold(currentSource().key, WAITING_BYTES)
    return this.#runInTurn(reading, build)
  }

  /** Builds an answer when its turn comes, and releases `reading` afterwards. */
  async #runInTurn<T>(
    reading: Reservation,
    build: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const source = currentSource()
    const slot = await new Promise<Reservation>((resolve) => {
      this.#waiting.push(source, () => {
        resolve(this.#building.hold(source.key, 1))
      })
      this.#startNext()
    })
    try {
      signal?.throwIfAborted()
      await readTurn()
      this.#makeRoom()
      reading.grow(READ_BYTES)
      return await build()
    } finally {
      reading.release()
      slot.release()
      this.#startNext()
    }
  }

  #startNext(): void {
    this.#waiting.shift((key) => this.#building.fits(key, 1))?.()
  }
}
