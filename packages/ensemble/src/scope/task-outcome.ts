/** Outcomes of tasks. */
import type { Usage } from '../usage/usage.ts'
import type { TuttiError } from '@tutti/core'
import type { FinishReason } from '@tutti/protocol/internal'

/** The result of a completed task. */
export interface TaskResult extends Usage {
  readonly taskName: string
  readonly attempt: number
  /** Text that later tasks receive. */
  readonly output: string
  /** The output as a value, when the task declares a schema. */
  readonly structured?: unknown
  readonly durationMs: number
  /** Finish reason of the model's last answer; absent if no model was called. */
  readonly finishReason?: FinishReason
}

/** Outcome of a task, with the usage of its attempts without a result. */
export type TaskOutcome = { readonly lost: readonly Usage[] } & (
  | { readonly kind: 'completed'; readonly result: TaskResult; readonly exit?: TuttiError }
  | { readonly kind: 'failed'; readonly error: TuttiError }
  /** The run was stopped, or a reviewer ended it, before the task began. */
  | { readonly kind: 'not_begun'; readonly exit?: TuttiError }
)
