/**
 * Pure: the indexes of a run's tasks, which events and records call `taskIndex`. A task keeps its index when other
 * code with another list of tasks continues the run.
 *
 *   began with        a 1   b 2   c 3
 *   continues with    a, new, c           ─▶  a 1   (b 2, skipped)   c 3   new 4
 *
 * ENS-V4 Tasks that the list adds get the indexes after all others. Tasks that it lacks, and that have not begun, are
 *    skipped. Steps of versions that did not record the list are replayed with the list of the code.
 */
import { listBegunWorkers } from '../hierarchy/workers.ts'

import type { StepLog } from '../scope/step-log.ts'

/** The tasks that earlier processes of a run have announced. */
export interface RecordedTasks {
  /** Index of each task, from 1; removed tasks keep theirs. */
  readonly indexes: ReadonlyMap<string, number>
  /** Names of the tasks that were not removed since. */
  readonly present: ReadonlySet<string>
  /** The last index, also of delegated tasks. */
  readonly lastIndex: number
}

/** Reads the announced tasks of a run from its steps; undefined if the run has not begun, or did not record them. */
export function readRecordedTasks(log: StepLog): RecordedTasks | undefined {
  const begun = log.runSteps.find((step) => step.kind === 'run_begun')
  if (begun?.kind !== 'run_begun' || begun.tasks === undefined) return undefined
  const indexes = new Map(begun.tasks.map((name, at) => [name, at + 1]))
  const present = new Set(begun.tasks)
  for (const step of log.runSteps) {
    if (step.kind !== 'tasks_changed') continue
    for (const { taskName, taskIndex } of step.added) {
      indexes.set(taskName, taskIndex)
      present.add(taskName)
    }
    for (const taskName of step.removed) present.delete(taskName)
  }
  const delegated = listBegunWorkers(log).map(({ workerTaskIndex }) => workerTaskIndex)
  const lastIndex = [...indexes.values(), ...delegated].reduce((a, b) => Math.max(a, b), 0)
  return { indexes, present, lastIndex }
}
