/** The result of a run. */
import type { Task } from '../definition/task.ts'
import type { TaskResult } from '../scope/task-outcome.ts'
import type { TuttiError } from '@tutti/core'
import type { RunEventOf, RunMetrics } from '@tutti/protocol'

/** How a run ended. */
export type RunEnding = RunEventOf<'run_result'>['status']

/** The result of a run. */
export interface RunResult {
  readonly runId: string
  readonly status: RunEnding
  /** Output of the last declared task that completed; empty when none did. */
  readonly output: string
  /** The completed tasks, in the order they were declared; delegated ones after them. */
  readonly tasks: readonly TaskResult[]
  readonly durationMs: number
  /** Usage of all tasks, failed and interrupted ones included; tokens are -1 when unknown. */
  readonly metrics: RunMetrics
  /** Why it failed; present exactly when `status` is FAILED. */
  readonly error?: TuttiError
  /**
   * The output of a task, typed by its schema; text when it has none; undefined when it did not
   * complete.
   */
  outputOf<Output>(task: Task<Output>): Output | undefined
}
