/**
 * Delivers recorded results in the order in which they were recorded, and before new ones. Code that waits for several
 * operations at the same time continues in the order of their ends, and what it asks for next depends on that order.
 */
interface WaitingResult {
  /** Position among the recorded steps. */
  readonly at: number
  readonly deliver: () => void
}

/** Gives each recorded result its turn. */
export class RecordedOrder {
  /** Results that were asked for, last first. */
  readonly #waiting: WaitingResult[] = []
  /** Operations without a recorded result. */
  #new: (() => void)[] = []
  /** Number of recorded results that were not delivered. */
  #left: number
  #isDue = false

  /** @param count number of recorded results. */
  constructor(count: number) {
    this.#left = count
  }

  /**
   * Resolves when it is the turn of the result at this position. Of the results that are asked for at the same time, the
   * first one comes first, and the next one when the code has continued.
   */
  turn(at: number): Promise<void> {
    return new Promise((resolve) => {
      let [low, high] = [0, this.#waiting.length]
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        if ((this.#waiting[middle]?.at ?? 0) > at) low = middle + 1
        else high = middle
      }
      this.#waiting.splice(low, 0, { at, deliver: resolve })
      this.#deliverSoon()
    })
  }

  /** Resolves when the code has received all recorded results for which it asks; undefined if it has all. */
  turnOfNew(): Promise<void> | undefined {
    if (this.#left <= 0) return undefined
    return new Promise((resolve) => {
      this.#new.push(resolve)
      this.#deliverSoon()
    })
  }

  #deliverSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#deliver()
    })
  }

  #deliver(): void {
    const next = this.#waiting.pop()
    if (next !== undefined) {
      this.#left -= 1
      next.deliver()
    }
    this.#isDue = this.#waiting.length + this.#new.length > 0
    if (!this.#isDue) return
    // All microtasks run first: those of the code that has just received its result.
    setImmediate(() => {
      if (this.#waiting.length === 0) this.#beginNew()
      this.#deliver()
    })
  }

  #beginNew(): void {
    const begins = this.#new
    this.#new = []
    for (const begin of begins) begin()
  }
}
