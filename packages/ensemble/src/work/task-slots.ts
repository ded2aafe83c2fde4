/**
 * Slots of tasks that run at the same time. A task that only waits for people gives its slots to other tasks, and takes slots
 * again before it continues.
 *
 *   begins ─▶ has slots ─▶ its review opens ─▶ has none ─▶ decided ─▶ waits for slots ─▶ continues ─▶ ended
 *
 * ENS-P22 A task that only waits for people does not count for `maxConcurrentTasks` and `maxParallel`, neither in a plan nor
 *    among the tasks that a handler adds. When it can continue, it waits for a slot like a task that begins. A task that adds
 *    tasks only waits when all of them do.
 * ENS-P23 While 1,000 tasks of a run wait for people without a slot, no other task begins.
 */

import type { InFlight } from './in-flight.ts'

/** Maximum number of tasks of a run that wait for people without a slot, when another task begins. */
export const MAX_WAITING_TASKS = 1_000

/** A number of slots. */
export interface SlotPool {
  /** Takes a slot; returns false if none is free. */
  tryTake(): boolean
  /** Frees the slot of a task that begins to wait for people. */
  release(): void
  /** Counts the end of a task, and frees its slot if it has one. */
  end(hasSlot: boolean): void
  /** Calls the function once when a slot is free. Returns the function that prevents this. */
  whenFree(callback: () => void): () => void
}

/** Functions that are each called once, in order. */
export class Callbacks {
  readonly #callbacks = new Set<() => void>()

  add(callback: () => void): () => void {
    // The same function can wait for two events.
    const own = (): void => {
      callback()
    }
    this.#callbacks.add(own)
    return () => {
      this.#callbacks.delete(own)
    }
  }

  /** Calls functions while there is something for them. */
  callWhile(isDue: () => boolean): void {
    for (const callback of this.#callbacks) {
      if (!isDue()) return
      this.#callbacks.delete(callback)
      callback()
    }
  }
}

/** A fixed number of slots. */
export class Slots implements SlotPool {
  readonly #max: number
  readonly #waiting = new Callbacks()
  #taken = 0

  /** @param max number of slots; Infinity for no limit. */
  constructor(max: number) {
    this.#max = max
  }

  tryTake(): boolean {
    if (!this.#isFree) return false
    this.#taken += 1
    return true
  }

  release(): void {
    this.#taken -= 1
    this.#waiting.callWhile(() => this.#isFree)
  }

  end(hasSlot: boolean): void {
    if (hasSlot) this.release()
  }

  whenFree(callback: () => void): () => void {
    return this.#waiting.add(callback)
  }

  get #isFree(): boolean {
    return this.#taken < this.#max
  }
}

/** The tasks of a run that wait for people without a slot. */
export class WaitingTasks {
  readonly #inFlight: Pick<InFlight, 'beginDecision' | 'endDecision'>
  readonly #waiting = new Callbacks()
  #count = 0

  constructor(inFlight: Pick<InFlight, 'beginDecision' | 'endDecision'>) {
    this.#inFlight = inFlight
  }

  /** Whether so many tasks wait that no other one may begin. */
  get isFull(): boolean {
    return this.#count >= MAX_WAITING_TASKS
  }

  add(): void {
    this.#count += 1
  }

  remove(): void {
    this.#count -= 1
    this.#waiting.callWhile(() => !this.isFull)
  }

  /** Calls the function in a microtask; until then, the run does not report that it only waits. */
  callSoon(callback: () => void): void {
    this.#inFlight.beginDecision()
    queueMicrotask(() => {
      callback()
      this.#inFlight.endDecision()
    })
  }

  /** Calls the function once when there is room for another task. */
  whenRoom(callback: () => void): () => void {
    return this.#waiting.add(callback)
  }
}

/** The parts of a {@link TaskSlot}. */
export interface TaskSlotOptions {
  readonly pools: readonly SlotPool[]
  /** Slot of the task that has added this one. */
  readonly parent: TaskSlot | undefined
  readonly waiting: WaitingTasks
  /** Aborts when the task must stop; it then no longer waits for slots. */
  readonly signal: AbortSignal
  /** Whether the task has a slot of each pool. @default true */
  readonly hasSlot?: boolean
}

/** Takes slots for one task, and frees them while it waits. */
export class TaskSlot {
  readonly #options: TaskSlotOptions
  #hasSlot: boolean
  /** Whether it counts as waiting, for its run and its parent. */
  #isWaiting = false
  /** Number of its open reviews. */
  #reviews = 0
  /** Number of its tasks and operations in flight. */
  #parts = 0
  /** Number of those tasks that only wait. */
  #waitingParts = 0
  #taking: Promise<void> | undefined
  #hasEnded = false

  constructor(options: TaskSlotOptions) {
    this.#options = options
    this.#hasSlot = options.hasSlot ?? true
  }

  /** Counts a task or an operation that begins. Returns a promise that it must await first if this task has no slot. */
  beginPart(): Promise<void> | undefined {
    this.#parts += 1
    return this.take()
  }

  /** Counts the end of a task or an operation. */
  endPart(): void {
    this.#parts -= 1
    this.#releaseSoon()
  }

  /** Counts the end of a task, after which this one continues with slots. */
  async continueAfterPart(inFlight: Pick<InFlight, 'pauseUntil'>): Promise<void> {
    this.endPart()
    const taking = this.take()
    if (taking !== undefined) await inFlight.pauseUntil(taking)
  }

  /** Counts a review that has opened. */
  beginReview(): void {
    this.#reviews += 1
    this.#releaseIfWaiting()
  }

  /** Counts a review that has ended. The task must {@link take} slots before it continues. */
  endReview(): void {
    this.#reviews -= 1
  }

  /** Takes slots, unless the task has them or still waits. Returns a promise that resolves when it has them or must stop. */
  take(): Promise<void> | undefined {
    if (this.#hasSlot || this.#hasEnded || this.#onlyWaits) return undefined
    this.#taking ??= this.#takeAll().finally(() => {
      this.#taking = undefined
      this.#releaseIfWaiting()
    })
    return this.#taking
  }

  /** Whether the task waits for slots. */
  get isTaking(): boolean {
    return this.#taking !== undefined
  }

  /** Frees the slots, because the task has ended. */
  end(): void {
    this.#hasEnded = true
    this.stopWaiting()
    for (const pool of this.#options.pools) pool.end(this.#hasSlot)
  }

  /** No longer counts the task as waiting, because it continues or has ended. */
  stopWaiting(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    this.#options.parent?.dropWaitingPart()
    this.#options.waiting.remove()
  }

  /** Counts a task that begins to wait. */
  addWaitingPart(): void {
    this.#waitingParts += 1
    this.#releaseSoon()
  }

  /** Counts a waiting task that has ended. */
  dropWaitingPart(): void {
    this.#waitingParts -= 1
  }

  get #onlyWaits(): boolean {
    const waiting = this.#waitingParts + this.#reviews
    return waiting > 0 && waiting >= this.#parts
  }

  get #mayRelease(): boolean {
    return this.#hasSlot && !this.#hasEnded && this.#onlyWaits
  }

  /** Frees the slots unless the code that runs now begins another part. */
  #releaseSoon(): void {
    if (!this.#mayRelease) return
    this.#options.waiting.callSoon(() => {
      this.#releaseIfWaiting()
    })
  }

  #releaseIfWaiting(): void {
    if (!this.#mayRelease) return
    const { pools, parent, waiting } = this.#options
    this.#hasSlot = false
    this.#isWaiting = true
    waiting.add()
    // First the pools: a task that then begins at once belongs to the same parent.
    for (const pool of pools) pool.release()
    parent?.addWaitingPart()
  }

  async #takeAll(): Promise<void> {
    const { pools, parent, signal } = this.#options
    this.stopWaiting()
    await parent?.take()
    const taken: SlotPool[] = []
    for (const pool of pools) {
      if (await takeSlot(pool, signal)) taken.push(pool)
      else break
    }
    if (taken.length === pools.length && !this.#hasEnded) this.#hasSlot = true
    else for (const pool of taken) pool.release()
  }
}

/** Waits for a slot; returns false if the signal aborts first. */
function takeSlot(pool: SlotPool, signal: AbortSignal): Promise<boolean> | boolean {
  if (signal.aborted) return false
  if (pool.tryTake()) return true
  return new Promise((resolve) => {
    const onFree = (): void => {
      if (!pool.tryTake()) {
        stop = pool.whenFree(onFree)
        return
      }
      signal.removeEventListener('abort', onAbort)
      resolve(true)
    }
    const onAbort = (): void => {
      stop()
      resolve(false)
    }
    let stop = pool.whenFree(onFree)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
