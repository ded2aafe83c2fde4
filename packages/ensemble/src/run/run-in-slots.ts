/** Runs work for each item of a list as slots become free. */
import type { Slots, WaitingTasks } from '../work/task-slots.ts'

/** The input of {@link runInSlots}. */
export interface SlottedWork<Item> {
  /** Those that an earlier process began come first. */
  readonly items: readonly Item[]
  /** Each item needs a slot of all of them. */
  readonly pools: readonly Slots[]
  readonly waiting: WaitingTasks
  /** Its abort lets items that have begun run without a slot, and prevents others from beginning. */
  readonly signal: AbortSignal
  /** Whether an earlier process began the item. */
  readonly isBegun: (item: Item) => boolean
  /** Whether another item may begin. @default it may */
  readonly mayBegin: (() => boolean) | undefined
  /** Runs one item, which has a slot of these pools and returns them. */
  readonly run: (item: Item, pools: readonly Slots[]) => Promise<void>
}

/**
 * Runs the items. Items that have slots begin at once, within the call: in a replay, other results wait for them. Resolves
 * when all have ended.
 *
 * @throws the first error; no item begins after it.
 */
export async function runInSlots<Item>(work: SlottedWork<Item>): Promise<void> {
  if (work.items.length > 0) await new SlottedRun(work).run()
}

class SlottedRun<Item> {
  readonly #work: SlottedWork<Item>
  readonly #end = Promise.withResolvers<void>()
  /** Number of items that have begun, or will not begin. */
  #next = 0
  #running = 0
  #failure: { readonly error: unknown } | undefined
  #isBeginning = false
  #stopWaiting: (() => void) | undefined

  constructor(work: SlottedWork<Item>) {
    this.#work = work
  }

  async run(): Promise<void> {
    const { signal } = this.#work
    const begin = (): void => {
      this.#begin()
    }
    signal.addEventListener('abort', begin)
    this.#begin()
    await this.#end.promise
    signal.removeEventListener('abort', begin)
    this.#stopWaiting?.()
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Begins items while there are slots. A slot can become free within the call. */
  #begin(): void {
    if (this.#isBeginning) return
    this.#isBeginning = true
    const { items } = this.#work
    while (this.#failure === undefined && this.#next < items.length) {
      const item = items[this.#next] as Item
      if (this.#mustNotBegin(item)) {
        this.#next += 1
        continue
      }
      const pools = this.#takeSlots(item)
      if (pools === undefined) break
      this.#next += 1
      this.#running += 1
      void this.#runItem(item, pools)
    }
    this.#isBeginning = false
    const isOver = this.#failure !== undefined || this.#next >= items.length
    if (isOver && this.#running === 0) this.#end.resolve()
  }

  #mustNotBegin(item: Item): boolean {
    const { signal, isBegun, mayBegin } = this.#work
    return !isBegun(item) && (signal.aborted || mayBegin?.() === false)
  }

  /** Takes a slot of each pool, or begins to wait for one. */
  #takeSlots(item: Item): readonly Slots[] | undefined {
    const { pools, waiting, signal, isBegun } = this.#work
    if (signal.aborted) return []
    this.#stopWaiting?.()
    const begin = (): void => {
      this.#begin()
    }
    if (!isBegun(item) && waiting.isFull) {
      this.#stopWaiting = waiting.whenRoom(begin)
      return undefined
    }
    for (const [index, pool] of pools.entries()) {
      if (pool.tryTake()) continue
      for (const taken of pools.slice(0, index)) taken.release()
      this.#stopWaiting = pool.whenFree(begin)
      return undefined
    }
    return pools
  }

  async #runItem(item: Item, pools: readonly Slots[]): Promise<void> {
    try {
      await this.#work.run(item, pools)
    } catch (error) {
      this.#failure ??= { error }
    } finally {
      this.#running -= 1
      this.#begin()
    }
  }
}
