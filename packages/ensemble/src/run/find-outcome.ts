import { fromStepError, type StepLog } from '../scope/step-log.ts'

import type { TaskOutcome } from '../scope/task-outcome.ts'
import type { TaskStates } from './task-states.ts'

/** Returns the outcome of an ended task, also of one that ended in an earlier process. */
export function findOutcome(
  log: StepLog,
  tasks: TaskStates,
  taskName: string,
): TaskOutcome | undefined {
  const result = tasks.resultOf(taskName)
  if (result !== undefined) {
    const exit = log.task(taskName).of('task_completed').at(-1)?.exit
    const exited = exit === undefined ? {} : { exit: fromStepError(exit) }
    return { kind: 'completed', result, lost: [], ...exited }
  }
  const failed = log.task(taskName).of('task_failed').at(-1)
  if (failed === undefined || failed.willRetry) return undefined
  return { kind: 'failed', error: fromStepError(failed.error), lost: [] }
}
