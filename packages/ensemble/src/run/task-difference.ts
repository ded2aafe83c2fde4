/** Compares the recorded start of a task with the code. No I/O. */
import { digestOutput, type ReplayDifference } from '../scope/replay.ts'

import type { Task } from '../definition/task.ts'
import type { StepOf } from '../ports/run-step.ts'

/** Returns the difference between the start of a task and the code; undefined if there is none. */
export function findTaskDifference(
  taskName: string,
  {
    step,
    task,
  }: { readonly step: StepOf<'task_begun'> | undefined; readonly task: Task | undefined },
): ReplayDifference | undefined {
  const recorded = { taskName, step: 'task_begun' }
  if (task === undefined) return { ...recorded, recorded: 'its start', asked: 'no such task' }
  const asked = digestOutput(task.outputReader)
  if (step === undefined || step.outputDigest === asked) return undefined
  return {
    ...recorded,
    recorded: describeOutput(step.outputDigest),
    asked: describeOutput(asked),
  }
}

function describeOutput(digest: string | null): string {
  return digest === null ? 'an output of text' : `an output of schema ${digest}`
}
