/**
 * Delivers recorded results in the order in which they were recorded, and before new ones. Code that waits for several
 * operations at the same time continues in the order of their ends, and what it asks for next depends on that order.
 *
 * In a replay with live models, tasks are executed again whose ends are recorded. Results that were recorded after such an
 * end wait for it.
 */
import { countWhere } from '../definition/count-where.ts'

interface WaitingResult {
  /** Position among the recorded steps. */
  readonly at: number
  readonly deliver: () => void
}

/** Gives each recorded result its turn. */
export class RecordedOrder {
  /** Results that were asked for, last first. */
  readonly #waiting: WaitingResult[] = []
  /** Positions of the recorded ends of work that is executed again. */
  readonly #repeated = new Set<number>()
  /** Operations without a recorded result. */
  #new: (() => void)[] = []
  /** Number of recorded results that were not delivered. */
  #left: number
  #isDue = false

  /** @param count number of recorded results that come before new operations. */
  constructor(count: number) {
    this.#left = count
  }

  /** Counts work that is executed again, until it asks for the turn of its end at this position. */
  repeat(at: number): void {
    this.#repeated.add(at)
  }

  /**
   * Resolves when it is the turn of the result at this position. Of the results that are asked for at the same time, the
   * first one comes first, and the next one when the code has continued.
   */
  turn(at: number): Promise<void> {
    this.#repeated.delete(at)
    return new Promise((resolve) => {
      const index = countWhere(this.#waiting, (one) => one.at > at)
      this.#waiting.splice(index, 0, { at, deliver: resolve })
      this.#deliverSoon()
    })
  }

  /** Resolves when the code has received all recorded results for which it asks; undefined if it has all. */
  turnOfNew(): Promise<void> | undefined {
    return this.#left <= 0 ? undefined : this.turnAfterAll()
  }

  /** Resolves when no result is left that the code has asked for and that is recorded. */
  turnAfterAll(): Promise<void> {
    return new Promise((resolve) => {
      this.#new.push(resolve)
      this.#deliverSoon()
    })
  }

  /** The next result, unless work is executed again that ended before it. */
  get #next(): WaitingResult | undefined {
    const next = this.#waiting.at(-1)
    if (next === undefined) return undefined
    for (const at of this.#repeated) if (at < next.at) return undefined
    return next
  }

  /** Whether something can be delivered before other work ends. */
  get #canDeliver(): boolean {
    return this.#next !== undefined || (this.#new.length > 0 && this.#hasAll)
  }

  get #hasAll(): boolean {
    return this.#waiting.length === 0 && this.#repeated.size === 0
  }

  #deliverSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#deliver()
    })
  }

  #deliver(): void {
    const next = this.#next
    if (next !== undefined) {
      this.#waiting.pop()
      this.#left -= 1
      next.deliver()
    }
    this.#isDue = this.#canDeliver
    if (!this.#isDue) return
    // All microtasks run first: those of the code that has just received its result.
    setImmediate(() => {
      if (this.#hasAll) this.#beginNew()
      this.#deliver()
    })
  }

  #beginNew(): void {
    const begins = this.#new
    this.#new = []
    for (const begin of begins) begin()
  }
}
