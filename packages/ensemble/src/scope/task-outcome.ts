/** How a task ended. */
import type { Usage } from '../usage/usage.ts'
import type { TuttiError } from '@tutti/core'
import type { FinishReason } from '@tutti/protocol'

/** The result of a completed task. */
export interface TaskResult extends Usage {
  readonly taskName: string
  readonly attempt: number
  /** The text that later tasks are given. */
  readonly output: string
  /** The output as a value, when the task declares a schema. */
  readonly structured?: unknown
  readonly durationMs: number
  /** Finish reason of the last answer of the model; absent when no model was asked. */
  readonly finishReason?: FinishReason
}

/** How a task ended, and what its failed attempts have used. */
export type TaskOutcome = { readonly lost: readonly Usage[] } & (
  | { readonly kind: 'completed'; readonly result: TaskResult; readonly exit?: TuttiError }
  | { readonly kind: 'failed'; readonly error: TuttiError }
  /** The run was stopped, or ended early by a reviewer, before the task began. */
  | { readonly kind: 'not_begun'; readonly exit?: TuttiError }
)
