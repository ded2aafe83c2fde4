/**
 * Lets readers of logs and of large bodies take turns, with other work of the event loop between two turns. The embedded
 * store answers at once, and a page takes some milliseconds of the thread: without turns, many concurrent readers would
 * block all other work.
 *
 * RUNS-FL5 The next turn comes after `PASSES` passes of the event loop, or earlier if other work has taken `OTHER_MS`.
 *    The time of a turn itself does not count.
 * RUNS-FL6 Turns are fair to keys, then to connections.
 */
import { FairQueue } from '../load/fair-queue.ts'
import { currentSource, type WorkSource } from '../load/work-source.ts'

/**
 * Maximum number of passes of the event loop from one turn to the next. A pass accepts one connection, so with a turn in
 * every pass a new connection would wait for as many pages as there are connections before it.
 */
const PASSES = 8

/** Time of other work after which the next turn comes, in milliseconds. */
const OTHER_MS = 5

export interface EventLoop {
  /** Calls a function in the next pass, after those of earlier calls and their microtasks. */
  readonly nextPass: (work: () => void) => void
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly elapsed: () => number
}

/** Turns of readers on one event loop. */
export class ReadTurns {
  readonly #loop: EventLoop
  readonly #waiting = new FairQueue<() => void>()
  /** Passes since the last turn; undefined when the next reader gets its turn in the next pass. */
  #passes: number | undefined
  /** End of the last turn. */
  #since = 0
  #isScheduled = false

  constructor(loop: EventLoop) {
    this.#loop = loop
  }

  /** Resolves when it is the caller's turn. */
  take(source: Pick<WorkSource, 'key' | 'connection'>): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(source, resolve)
      if (!this.#isScheduled) this.#schedule()
    })
  }

  #schedule(): void {
    this.#isScheduled = true
    let hasTurn = false
    this.#loop.nextPass(() => {
      if (!this.#isDue()) return
      const next = this.#waiting.shift()
      hasTurn = next !== undefined
      this.#isScheduled = hasTurn
      if (!hasTurn) this.#passes = undefined
      next?.()
    })
    // In the same pass, after all that the turn did without waiting.
    this.#loop.nextPass(() => {
      if (hasTurn) {
        this.#passes = 0
        this.#since = this.#loop.elapsed()
      }
      if (this.#isScheduled && (hasTurn || this.#passes !== undefined)) this.#schedule()
    })
  }

  #isDue(): boolean {
    if (this.#passes === undefined) return true
    this.#passes += 1
    return this.#passes >= PASSES || this.#loop.elapsed() - this.#since >= OTHER_MS
  }
}

const turns = new ReadTurns({
  nextPass: (work) => {
    setImmediate(work)
  },
  elapsed: () => performance.now(),
})

/** Resolves when it is the turn of the caller to read a page or a large body. */
export function readTurn(
  source: Pick<WorkSource, 'key' | 'connection'> = currentSource(),
): Promise<void> {
  return turns.take(source)
}
