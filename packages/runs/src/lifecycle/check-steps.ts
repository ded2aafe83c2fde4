/**
 * Pure: checks that the steps of a run agree with its events before the run continues.
 *
 * RUNS-E8 A run whose log says that it began, or that a task was completed, has the steps of it. Without them it would
 *    start over and repeat side effects, so it ends with RUN_UNREADABLE.
 */
import { runUnreadable } from '../domain/refusals.ts'

import type { RunStep } from '@tutti/ensemble/internal'
import type { RunRecord } from '../domain/run-record.ts'

/** @throws {TuttiError} RUN_UNREADABLE when steps are missing. */
export function assertStepsComplete(
  { runId, startedAt, completedTasks }: Pick<RunRecord, 'runId' | 'startedAt' | 'completedTasks'>,
  steps: readonly RunStep[],
): void {
  if (startedAt !== undefined && !steps.some(({ kind }) => kind === 'run_begun')) {
    throw runUnreadable(runId, 'steps', new Error('the log has its start, and the steps do not'))
  }
  const completed = steps.filter(({ kind }) => kind === 'task_completed').length
  if (completed >= completedTasks) return
  const message = `the log has ${completedTasks} completed tasks, and the steps have ${completed}`
  throw runUnreadable(runId, 'steps', new Error(message))
}
