/** The result of a run. */
import type { Task } from '../definition/task.ts'
import type { TaskResult } from '../scope/task-outcome.ts'
import type { TuttiError } from '@tutti/core'
import type { RunEventOf, RunMetrics } from '@tutti/protocol'

/** Final status of a run. */
export type RunEnding = RunEventOf<'run_result'>['status']

/** The end of a run, with the outputs of its tasks and its usage. */
export interface RunResult {
  readonly runId: string
  readonly status: RunEnding
  /** Output of the last declared task that completed; empty when none did. */
  readonly output: string
  /** Completed tasks in the order of declaration, delegated ones after them. */
  readonly tasks: readonly TaskResult[]
  readonly durationMs: number
  /** Usage of all tasks, including failed and interrupted ones; tokens are -1 if unknown. */
  readonly metrics: RunMetrics
  /** Error of the run; present only if `status` is FAILED. */
  readonly error?: TuttiError
  /**
   * Returns the output of a task, typed by its schema; text if it has none, undefined if it did not complete.
   */
  outputOf<Output>(task: Task<Output>): Output | undefined
}
