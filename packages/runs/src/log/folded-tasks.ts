/**
 * Computes the tasks of a run from its events, so that a reader of all events need not read its tasks from the store.
 * No I/O.
 *
 * RUNS-C8 The tasks of a run that are folded from all its events equal those that are read from the store.
 */
import { field } from '../domain/field.ts'
import { applyTaskChange, isTaskChange, type TaskChange } from './apply-changes.ts'
import { toRecordChanges } from './changes.ts'
import { toTaskRecord, type StoredTask } from './stored-task.ts'

import type { RunEvent, RunEventOf } from '@tutti/protocol'
import type { TaskRecord } from '../domain/run-record.ts'

/** Maximum length of all texts of the tasks, in characters. */
const MAX_LENGTH = 256_000

/** An ended run, computed from its events. */
export interface FoldedRun {
  readonly tasks: readonly TaskRecord[]
  /** Fields of its last event. */
  readonly result: Pick<RunEventOf<'run_result'>, 'metrics' | 'cancel'>
}

/** The tasks of one run after its events so far. */
export class FoldedTasks {
  readonly #tasks = new Map<number, StoredTask>()
  #result: FoldedRun['result'] | undefined
  #length = 0
  #isIncomplete = false

  /** Adds the next events; the first call begins with the first event of the run. */
  add(events: readonly RunEvent[]): void {
    for (const event of events) if (!this.#isIncomplete) this.#add(event)
  }

  /**
   * Returns the run; undefined before its last event, after an event that cannot be read, and when the texts of its tasks
   * have more than 256,000 characters.
   */
  get ended(): FoldedRun | undefined {
    if (this.#isIncomplete || this.#result === undefined) return undefined
    const tasks = [...this.#tasks.values()].toSorted((a, b) => a.taskIndex - b.taskIndex)
    return { tasks: tasks.map(toTaskRecord), result: this.#result }
  }

  #add(event: RunEvent): void {
    if (event.type === 'run_result') {
      const { metrics, cancel } = event
      this.#result = { ...field('metrics', metrics), ...field('cancel', cancel) }
    }
    const changes = toRecordChanges(event).filter(isTaskChange)
    for (const change of changes) {
      this.#length += textLength(change)
      applyTaskChange(this.#tasks, change)
    }
    this.#isIncomplete = event.type === 'event_unreadable' || this.#length > MAX_LENGTH
    if (this.#isIncomplete) this.#tasks.clear()
  }
}

function textLength(change: TaskChange): number {
  const fields: object = change.kind === 'task' ? change.set : change.task
  return Object.values(fields).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  )
}
