/** Cancels tasks. */
import { TuttiError } from '@tutti/core'

import { cancelRun } from '../runs/cancel-run.ts'
import { waitForEnd } from '../runs/wait-for-end.ts'
import { A2aError } from './a2a-error.ts'
import { act, type Asker } from './asker.ts'
import { findTaskRun, loadTask, type LoadedTask } from './load-task.ts'

/** How long the work of a task may take to stop before its caller is told that it still does, in milliseconds. */
const CANCEL_WAIT_MS = 10_000

/**
 * Resolves when the work has stopped, or after {@link CANCEL_WAIT_MS}: with the task as it is then.
 *
 * @throws {A2aError} TASK_NOT_FOUND, TASK_NOT_CANCELABLE when it is over.
 */
export async function cancelTask(id: string, asker: Asker): Promise<LoadedTask> {
  const { options, caller, gone } = asker
  const run = await findTaskRun(asker, id)
  const action = { name: 'cancelRun', scope: 'runs:control', runId: id } as const
  try {
    await act(asker, action, () => cancelRun(options.runs, id, { mode: 'abort', caller }))
  } catch (error) {
    throw isOver(error)
      ? new A2aError('TASK_NOT_CANCELABLE', `Task "${id}" cannot be canceled: it is over`)
      : error
  }
  await waitForEnd(options, run, { timeoutMs: CANCEL_WAIT_MS, signal: gone })
  return loadTask(asker, id)
}

function isOver(error: unknown): boolean {
  return TuttiError.isInstance(error) && error.code === 'RUN_COMPLETED'
}
