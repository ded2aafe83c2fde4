/** Finds the tasks without whose outputs other tasks cannot run. No I/O. */
import { findSubEnsemble } from './sub-ensemble.ts'
import { listWorkingTasks, type Task } from './task.ts'

import type { Plan } from './plan.ts'

/** Returns the names of the tasks that each task needs. */
export function mapNeeds(tasks: readonly Task[]): Plan['needs'] {
  return new Map(tasks.map((task) => [task.name, listNeeds(task)]))
}

function listNeeds(task: Task): readonly string[] {
  const { forEach } = task
  const inputs = listWorkingTasks(task).flatMap((working) =>
    Object.values(findSubEnsemble(working)?.inputs ?? {}),
  )
  return [
    ...(forEach === undefined || forEach.isInput ? [] : [forEach.over]),
    ...inputs.flatMap((source) => (typeof source === 'string' ? [] : [source.task])),
  ]
}
