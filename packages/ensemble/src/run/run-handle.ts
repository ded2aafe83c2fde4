/** The handle of a run. */
import type { RunMetrics } from '@tutti/protocol'
import type {
  DirectiveInput,
  ReplyTo,
  RunCommandKind,
  RunCommandOf,
} from '@tutti/protocol/internal'
import type { Directive } from '../ports/run-step.ts'
import type { Task } from '../definition/task.ts'
import type { DeliveredEvent, OpenReview, ReviewAnswer } from '../ports/run-reviewer.ts'
import type { ModelChoice, ModelSwitch } from '../steering/model-steering.ts'
import type { CancelRunOptions } from '../steering/steering.ts'
import type { TaskPhase } from '../definition/schedule.ts'
import type { RunResult } from './run-result.ts'

/** Current state of a run. */
export interface RunSnapshot {
  readonly status:
    | 'RUNNING'
    | 'CANCELLING'
    | 'WAITING_REVIEW'
    | 'WAITING'
    | 'COMPLETED'
    | 'FAILED'
    | 'CANCELLED'
  readonly tasks: readonly TaskSnapshot[]
  /** Reviews that wait for a decision, with their remaining time. */
  readonly reviews: readonly OpenReview[]
  readonly metrics: RunMetrics
}

/** Current state of a task. */
export interface TaskSnapshot {
  readonly taskName: string
  readonly taskIndex: number
  readonly phase: TaskPhase
  /** Latest attempt that began; 0 if none did. */
  readonly attempt: number
}

/** A started run. Its members can be destructured, because none uses `this`. */
export interface RunHandle {
  readonly runId: string
  /** Result of the run. Rejects only if this process may no longer write to the run. */
  readonly result: Promise<RunResult>
  /**
   * Applies a command and resolves with its reply. The methods below do the same for callers in this process.
   *
   * @throws {TuttiError} RUN_COMPLETED if the run has ended, and the errors of the command's method.
   */
  readonly send: <K extends RunCommandKind>(command: RunCommandOf<K>) => Promise<ReplyTo<K>>
  /** Cancels the run. Returns false if it has already ended; a repeated call can only escalate. */
  readonly cancel: (options?: CancelRunOptions) => boolean
  /**
   * Switches the next model calls of the run, or of one task, to another model or `{ tier }`; the current
   * call ends with the old model. A run that another process may resume needs an alias of its catalog,
   * because a model itself cannot be stored.
   *
   * @throws {TuttiError} INVALID_MODEL for an alias or a tier that the run's catalog does not have,
   * BAD_REQUEST for an unknown task, RUN_COMPLETED if the run has ended.
   */
  readonly switchModel: (
    model: ModelChoice,
    options?: { readonly task?: string | Task; readonly actor?: string },
  ) => ModelSwitch
  /**
   * Sends a directive to the agents; see {@link DirectiveInput}.
   *
   * @throws {TuttiError} BAD_REQUEST, naming every problem; RUN_COMPLETED if the run has ended.
   */
  readonly inject: (directive: DirectiveInput | string) => Directive
  /**
   * Decides an open review; resolves when the decision is durable. If an interrupted process left the review
   * open, waits until it is open again. The decision that closed a review is accepted again under its `id`.
   *
   * @throws {TuttiError} REVIEW_NOT_FOUND, REVIEW_RESOLVED, or BAD_REQUEST if the decision is invalid.
   */
  readonly decide: (reviewId: string, decision: ReviewAnswer) => Promise<void>
  /**
   * Delivers an external event to the wait that opened first; resolves when that is durable. Returns false if no open wait is
   * for it, because a run in process stores no events. An event that is delivered again under its id counts once.
   *
   * @throws {TuttiError} BAD_REQUEST if the data does not match the schema of the wait.
   */
  readonly deliver: (event: DeliveredEvent) => Promise<boolean>
  /**
   * Stops starting model calls, tools, handlers, guardrails, memory accesses and reflections. Resolves when
   * none of them is in flight and the journal has received their results; at once if the run has ended.
   * Reviews can still be decided and commands are accepted. The owner of the journal can then flush it,
   * detach it, abort the signal of the run, and resume from its steps elsewhere. It cannot be undone; a
   * repeated call returns the same promise.
   */
  readonly drain: () => Promise<void>
  /** Returns the current state. */
  readonly snapshot: () => RunSnapshot
}
