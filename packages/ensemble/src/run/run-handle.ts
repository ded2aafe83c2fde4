/** The handle of a run in flight. */
import type {
  DirectiveInput,
  ReplyTo,
  RunCommandKind,
  RunCommandOf,
  RunMetrics,
} from '@tutti/protocol'
import type { Directive } from '../ports/run-step.ts'
import type { Task } from '../definition/task.ts'
import type { OpenReview, ReviewAnswer } from '../ports/run-reviewer.ts'
import type { ModelChoice, ModelSwitch } from '../steering/model-steering.ts'
import type { CancelRunOptions } from '../steering/steering.ts'
import type { TaskPhase } from './next.ts'
import type { RunResult } from './run-result.ts'

/** The state of a run at this moment. */
export interface RunSnapshot {
  readonly status:
    | 'RUNNING'
    | 'CANCELLING'
    | 'WAITING_REVIEW'
    | 'COMPLETED'
    | 'FAILED'
    | 'CANCELLED'
  readonly tasks: readonly TaskSnapshot[]
  /** The reviews that wait for a decision, with the time that is left. */
  readonly reviews: readonly OpenReview[]
  readonly metrics: RunMetrics
}

/** The state of a task at this moment. */
export interface TaskSnapshot {
  readonly taskName: string
  readonly taskIndex: number
  readonly phase: TaskPhase
  /** The latest attempt that began; 0 when none has. */
  readonly attempt: number
}

/** A started run. Its members can be destructured: none needs `this`. */
export interface RunHandle {
  readonly runId: string
  /** The result of the run; rejects only when the run may no longer write. */
  readonly result: Promise<RunResult>
  /**
   * Does what a command says; resolves with its reply. The methods below do the same for callers in this process.
   *
   * @throws {TuttiError} RUN_COMPLETED when the run is over, and what the method of the command throws.
   */
  readonly send: <K extends RunCommandKind>(command: RunCommandOf<K>) => Promise<ReplyTo<K>>
  /** Asks the run to end. False when it is already over; a repeated call can only escalate. */
  readonly cancel: (options?: CancelRunOptions) => boolean
  /**
   * Sends the next model calls of the run, or of one task, to another model or `{ tier }`; the call in flight ends
   * with the old one. A run that is to be resumed elsewhere needs an alias of its catalog: a model itself
   * cannot be stored.
   *
   * @throws {TuttiError} INVALID_MODEL for an alias or a tier that the run's catalog does not have, BAD_REQUEST for
   * an unknown task, RUN_COMPLETED when the run is over.
   */
  readonly switchModel: (
    model: ModelChoice,
    options?: { readonly task?: string | Task; readonly actor?: string },
  ) => ModelSwitch
  /**
   * Gives the agents a directive: see {@link DirectiveInput}.
   *
   * @throws {TuttiError} BAD_REQUEST, naming every problem, RUN_COMPLETED when the run is over.
   */
  readonly inject: (directive: DirectiveInput | string) => Directive
  /**
   * Decides an open review; resolves when the decision is durable. A review that an interrupted process left
   * open is waited for until it is open again. The decision that closed a review, sent again under its `id`, is
   * accepted again.
   *
   * @throws {TuttiError} REVIEW_NOT_FOUND, REVIEW_RESOLVED, or BAD_REQUEST when the decision is invalid.
   */
  readonly decide: (reviewId: string, decision: ReviewAnswer) => Promise<void>
  /**
   * Begins no further model call, tool, handler, guardrail, memory access or reflection. Resolves when none of
   * them is in flight and their results have been given to the journal; at once when the run is over. Reviews can
   * still be decided and commands are accepted. The owner of the journal can then flush it, detach it, abort the
   * signal of the run, and resume from its steps elsewhere. It cannot be undone; a repeated call returns the same.
   */
  readonly drain: () => Promise<void>
  /** Returns the current state. */
  readonly snapshot: () => RunSnapshot
}
