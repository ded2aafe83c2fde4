/** The slots of the tasks of a plan, whose running tasks the schedule counts. */
import { Callbacks, TaskSlot, type SlotPool } from '../work/task-slots.ts'

import type { Schedule } from '../definition/schedule.ts'
import type { RunScope } from '../scope/run-scope.ts'

/** Adapts a schedule to a pool of slots. */
export class PlannedSlots implements SlotPool {
  readonly #schedule: Schedule
  readonly #onFree: () => void
  readonly #continuing = new Callbacks()

  /** @param onFree called when a task frees its slot. */
  constructor(schedule: Schedule, onFree: () => void) {
    this.#schedule = schedule
    this.#onFree = onFree
  }

  /** Returns the slot of a task that has just begun; without a slot if it continues when all are taken. */
  create({ waitingTasks: waiting, signal }: RunScope): TaskSlot {
    const hasSlot = this.#schedule.free >= 0
    if (!hasSlot) this.#schedule.countWaiting(1)
    return new TaskSlot({ pools: [this], parent: undefined, waiting, signal, hasSlot })
  }

  tryTake(): boolean {
    if (this.#schedule.free <= 0) return false
    this.#schedule.countWaiting(-1)
    return true
  }

  release(): void {
    this.#schedule.countWaiting(1)
    this.#onFree()
  }

  end(hasSlot: boolean): void {
    if (!hasSlot) this.#schedule.countWaiting(-1)
  }

  whenFree(callback: () => void): () => void {
    return this.#continuing.add(callback)
  }

  /** Gives free slots to tasks that can continue. */
  serve(): void {
    this.#continuing.callWhile(() => this.#schedule.free > 0)
  }
}
