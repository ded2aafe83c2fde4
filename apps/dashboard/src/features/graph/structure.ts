/**
 * Pure: which task comes after which.
 *
 * In PARALLEL a task waits for its context; in SEQUENTIAL it follows the one before it, whatever else it
 * is given. In HIERARCHICAL the manager, which the plan has last, is above its workers, and what was
 * delegated is below whoever delegated it.
 */
import type { RunState } from '@tutti/protocol'

/** A task and what comes right before it. */
export interface GraphTask {
  readonly name: string
  /** Names of the tasks that lead to it; those that it is given something of, or waits for. */
  readonly after: readonly string[]
  /** Whether it was handed down: it is drawn right below who did so. */
  readonly isDelegated: boolean
}

/** The tasks of a run, in the order in which the run lists them. */
export function structureOf({
  tasks,
  workflow,
}: Pick<RunState, 'tasks' | 'workflow'>): readonly GraphTask[] {
  const planned = tasks.filter(({ delegatedBy }) => delegatedBy === undefined)
  const names = new Set(tasks.map(({ name }) => name))
  const manager = workflow === 'HIERARCHICAL' ? planned.at(-1) : undefined
  return tasks.map((task) => {
    const { name, context, delegatedBy } = task
    if (delegatedBy !== undefined && names.has(delegatedBy.taskName)) {
      return { name, after: [delegatedBy.taskName], isDelegated: true }
    }
    if (manager !== undefined) {
      const isWorker = task !== manager
      return { name, after: isWorker ? [manager.name] : [], isDelegated: isWorker }
    }
    const before = planned[planned.indexOf(task) - 1]
    if (workflow === 'SEQUENTIAL') {
      return { name, after: before === undefined ? [] : [before.name], isDelegated: false }
    }
    return { name, after: context.filter((other) => names.has(other)), isDelegated: false }
  })
}
