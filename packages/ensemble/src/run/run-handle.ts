/** A run in flight, as whoever started it can steer it. */
import type { DirectiveInput, ReplyTo, RunCommandKind, RunCommandOf } from '@tutti/protocol'
import type { Directive } from '../ports/run-step.ts'
import type { Task } from '../definition/task.ts'
import type { Gate, GateDecision } from '../ports/run-reviewer.ts'
import type { ModelChoice, ModelSwitch } from '../steering/model-steering.ts'
import type { CancelOptions } from '../steering/steering.ts'
import type { TaskPhase } from './next.ts'
import type { RunMetrics, RunResult } from './run-result.ts'

/** What a run is doing at this moment. */
export interface RunSnapshot {
  readonly status:
    | 'RUNNING'
    | 'CANCELLING'
    | 'WAITING_REVIEW'
    | 'COMPLETED'
    | 'FAILED'
    | 'CANCELLED'
  readonly tasks: readonly TaskSnapshot[]
  /** The gates that wait for a decision, with the time that is left. */
  readonly gates: readonly Gate[]
  readonly metrics: RunMetrics
}

/** What a task is doing at this moment. */
export interface TaskSnapshot {
  readonly taskName: string
  readonly taskIndex: number
  readonly phase: TaskPhase
  /** The latest attempt that began; 0 when none has. */
  readonly attempt: number
}

/** A run that was started. Its members may be taken out of it: none needs `this`. */
export interface RunHandle {
  readonly runId: string
  /** What the run comes to; rejects only when it may write nothing more. */
  readonly result: Promise<RunResult>
  /**
   * Does what a command says; resolves with its reply. The methods below do the same for callers in this process.
   *
   * @throws {TuttiError} RUN_COMPLETED when the run is over, and what the method of the command throws.
   */
  readonly send: <K extends RunCommandKind>(command: RunCommandOf<K>) => Promise<ReplyTo<K>>
  /** Asks the run to end. False when it is over already; asked again it can only become harder. */
  readonly cancel: (options?: CancelOptions) => boolean
  /**
   * Sends the next model calls of the run, or of one task, to another model or `{ tier }`; the call in flight ends
   * with the old one. A run that is to be resumed elsewhere needs an alias of its catalog: a model itself
   * cannot be kept.
   *
   * @throws {TuttiError} INVALID_MODEL for an alias or a tier that the run's catalog does not have, BAD_REQUEST for
   * an unknown task, RUN_COMPLETED when the run is over.
   */
  readonly switchModel: (
    model: ModelChoice,
    options?: { readonly task?: string | Task; readonly actor?: string },
  ) => ModelSwitch
  /**
   * Tells the agents something: see {@link DirectiveInput}.
   *
   * @throws {TuttiError} BAD_REQUEST, naming every problem, RUN_COMPLETED when the run is over.
   */
  readonly inject: (directive: DirectiveInput | string) => Directive
  /**
   * Decides an open gate; resolves when the decision is durable. A gate that was open when an earlier
   * process was cut off is waited for until it is open again. The decision that closed a gate, sent again
   * under its `id`, is taken as the same.
   *
   * @throws {TuttiError} REVIEW_NOT_FOUND, REVIEW_RESOLVED, or BAD_REQUEST when the decision does not fit.
   */
  readonly decide: (reviewId: string, decision: GateDecision) => Promise<void>
  /**
   * Lets nothing begin any more that must not be cut off lightly: no model call, tool, handler, guardrail,
   * memory or reflection. Resolves when nothing of the kind is in flight and what came of it has been given
   * to the journal; at once when the run is over. Gates can still be decided and wishes are taken. Whoever
   * holds the journal can then flush it, take nothing more, abort the run's signal, and go on from its
   * steps elsewhere. There is no way back; asked again it says the same.
   */
  readonly standStill: () => Promise<void>
  /** What the run is doing now. */
  readonly snapshot: () => RunSnapshot
}
