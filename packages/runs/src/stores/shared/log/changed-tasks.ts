import type { ChangeableTasks, KnownTasks } from '../../../log/apply-changes.ts'
import type { StoredTask } from '../../../log/stored-task.ts'

/**
 * The tasks of a run after a write. They share the unchanged ones with those before it, which stay as they were: a write that
 * copied all of them would cost time for each task of the run.
 */
export class ChangedTasks implements ChangeableTasks {
  readonly #before: KnownTasks
  /** Tasks that differ from `#before`, or are not in it. */
  readonly #changed: Map<number, StoredTask>
  #size: number

  private constructor(before: KnownTasks, changed: Map<number, StoredTask>, size: number) {
    this.#before = before
    this.#changed = changed
    this.#size = size
  }

  /** Returns the tasks, to be changed. */
  static from(known: KnownTasks): ChangedTasks {
    if (!(known instanceof ChangedTasks)) return new ChangedTasks(known, new Map(), known.size)
    const { size } = known
    if (known.#isSmall) return new ChangedTasks(known.#before, new Map(known.#changed), size)
    const all = new Map<number, StoredTask>()
    for (const task of known.values()) all.set(task.taskIndex, task)
    return new ChangedTasks(all, new Map(), size)
  }

  get size(): number {
    return this.#size
  }

  get(index: number): StoredTask | undefined {
    return this.#changed.get(index) ?? this.#before.get(index)
  }

  has(index: number): boolean {
    return this.#changed.has(index) || this.#before.has(index)
  }

  set(index: number, task: StoredTask): void {
    if (!this.has(index)) this.#size += 1
    this.#changed.set(index, task)
  }

  *values(): Iterable<StoredTask> {
    for (const task of this.#before.values()) {
      if (!this.#changed.has(task.taskIndex)) yield task
    }
    yield* this.#changed.values()
  }

  /** Whether the changed tasks are so few that a copy of them costs less than one of all, over all writes. */
  get #isSmall(): boolean {
    return this.#changed.size ** 2 <= 1_000 + 4 * this.#before.size
  }
}
