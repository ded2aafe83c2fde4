/**
 * Groups calls, so that many of them share a statement, a round trip and a transaction.
 *
 *   call ─┐                                            ┌─▶ its result
 *   call ─┼─▶ waiting ─ setImmediate ─▶ one statement ─┼─▶ its result
 *   call ─┘                                            └─▶ its result
 *
 * RUNS-D8 Calls of one event loop turn, and those that wait until a group may start, form one group.
 * RUNS-D9 When a group fails, each of its calls is made again alone, so that a refused one does not affect the others.
 *    While the database cannot be reached, all of them fail.
 * RUNS-D10 Callers take turns: one with many calls does not delay the call of another.
 */
import { TuttiError } from '@tutti/core'

import { FairQueue } from '../../../load/fair-queue.ts'
import { currentSource } from '../../../load/work-source.ts'

/** Options of a {@link CallGroup}. */
export interface CallGroupOptions<Call, Result> {
  /** Makes calls together. Returns one result for each, in their order. Must have no effect when it throws. */
  readonly run: (calls: readonly Call[]) => Promise<readonly Result[]>
  /** Returns the size of a call, in bytes. */
  readonly sizeOf: (call: Call) => number
  /** Maximum number of groups at a time. @default no limit */
  readonly maxGroups?: number
}

/** Size at which a group takes no further call, in bytes. */
const MAX_SIZE = 1_000_000

/** Maximum number of calls in a group: a statement with more is hardly cheaper, and its first caller waits longer. */
const MAX_CALLS = 100

interface WaitingCall<Call, Result> {
  readonly call: Call
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Groups calls of one kind. */
export class CallGroup<Call, Result> {
  readonly #options: CallGroupOptions<Call, Result>
  readonly #waiting = new FairQueue<WaitingCall<Call, Result>>()
  #running = 0
  #isScheduled = false

  constructor(options: CallGroupOptions<Call, Result>) {
    this.#options = options
  }

  /** Makes a call together with others. */
  add(call: Call): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(currentSource(), { call, resolve, reject })
      this.#startSoon()
    })
  }

  #startSoon(): void {
    const { maxGroups = Infinity } = this.#options
    if (this.#isScheduled || this.#waiting.size === 0 || this.#running >= maxGroups) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#waiting.size > 0 && this.#running < maxGroups) {
        this.#running += 1
        void this.#runGroup(this.#takeGroup()).finally(() => {
          this.#running -= 1
          this.#startSoon()
        })
      }
    })
  }

  #takeGroup(): readonly WaitingCall<Call, Result>[] {
    const group: WaitingCall<Call, Result>[] = []
    let size = 0
    while (size < MAX_SIZE && group.length < MAX_CALLS) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      group.push(next)
      size += this.#options.sizeOf(next.call)
    }
    return group
  }

  async #runGroup(group: readonly WaitingCall<Call, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(group.map(({ call }) => call))
      for (const [index, result] of results.entries()) group[index]?.resolve(result)
    } catch (error) {
      const isLost = TuttiError.isInstance(error) && error.code === 'STORE_UNAVAILABLE'
      if (isLost || group.length === 1) for (const { reject } of group) reject(error)
      else for (const one of group) await this.#runGroup([one])
    }
  }
}
