/**
 * The checkpoints of a run: a list of steps, each a recorded side effect that is not repeated. Given the
 * steps of a run, another process continues it: it replays the recorded side effects and performs all others.
 *
 * Steps are plain data that survives JSON. They are not events: an event informs readers, a step holds what
 * the engine needs to continue, such as the whole reply of a model.
 */
import type { ReviewAnswer } from './run-reviewer.ts'
import type { ModelReply } from '../model/chat-model.ts'
import type { AgentUse, CountedUse } from '../usage/budget.ts'
import type { Usage } from '../usage/usage.ts'
import type { ToolResult, TSchema, TuttiError } from '@tutti/core'
import type {
  CancelCause,
  CancelMode,
  CostEstimate,
  DirectiveAction,
  FinishReason,
  MessagePart,
  Priority,
  ReviewTiming,
} from '@tutti/protocol/internal'

/** Fields of every step. */
interface StepBase {
  /** Working time of the run so far, in milliseconds. */
  readonly runMs: number
}

/** Fields of every step of a task. */
interface TaskStepBase extends StepBase {
  readonly taskName: string
  readonly attempt: number
  /** Working time of the attempt so far, in milliseconds. */
  readonly taskMs: number
}

/** Records the start of the run. */
export interface RunBegun extends StepBase {
  readonly kind: 'run_begun'
  /** Time of the start, in milliseconds since 1970. */
  readonly startedAt: number
  /** Names of its tasks, in their order. */
  readonly tasks: readonly string[]
}

/** Records that the continuing code has other tasks. */
export interface TasksChanged extends StepBase {
  readonly kind: 'tasks_changed'
  /** Added tasks with their indexes. */
  readonly added: readonly { readonly taskName: string; readonly taskIndex: number }[]
  /** Names of the tasks that it no longer has. */
  readonly removed: readonly string[]
}

/** Records that the run is a fork: the steps before this one are copied from another run, and cost nothing. */
export interface RunForkedStep extends StepBase {
  readonly kind: 'run_forked'
  /** Time of the fork, in milliseconds since 1970. */
  readonly startedAt: number
}

/** Records an output that the request of a fork gives to a task; the next attempt of the task answers with it. */
export interface ResultGiven extends StepBase {
  readonly kind: 'result_given'
  readonly taskName: string
  readonly output: string
  /** Output as a value, if the task declares a schema. */
  readonly structured?: unknown
}

/** Records an event that a wait of the parent got after the start of a fork; the same wait of the fork gets it again. */
export interface EventGiven extends StepBase {
  readonly kind: 'event_given'
  readonly taskName: string
  /** The wait: its attempt, slot and basis as in the parent. */
  readonly wait: Pick<ReviewOpenedStep, 'attempt' | 'slot' | 'basis'>
  readonly decision: ReviewAnswer
}

/** Records a cancel of the run. */
export interface CancelAsked extends StepBase {
  readonly kind: 'cancel_asked'
  readonly mode: CancelMode
  readonly cause: CancelCause
  /** Name of the API key of its caller. */
  readonly actor?: string
}

/** Records a switch to another model, from the next model calls on. */
export interface ModelSwitchedStep extends StepBase {
  readonly kind: 'model_switched'
  /** Alias in the catalog of the run, or `provider:name`. */
  readonly model: string
  /** Task of the switch; absent for the whole run. */
  readonly taskName?: string
  /** Requested tier. For PRIMARY and FALLBACK each task can have its own model. */
  readonly tier?: string
  /** Index of the ensemble's rule that made the switch, from 0; absent if it was requested. */
  readonly rule?: number
}

/** Records a failed model call. Written only for ensembles with rules that count it. */
export interface ModelCallFailed extends StepBase {
  readonly kind: 'model_failed'
}

/** A directive in force. */
export interface Directive {
  readonly id: string
  /** Text for the agents; empty for an action. */
  readonly content: string
  readonly action?: DirectiveAction
  readonly value?: string
  readonly to?: string
  readonly from?: string
  readonly actor?: string
  readonly priority: Priority
  /** Time of its arrival, in milliseconds since 1970. */
  readonly createdAt: number
  /** Time at which it expires, in milliseconds since 1970; absent if it is in force for the whole run. */
  readonly expiresAt?: number
}

/** Records an accepted directive. */
export interface DirectiveTaken extends StepBase {
  readonly kind: 'directive_taken'
  readonly directive: Directive
}

/** Records the start of an attempt at a task. */
export interface TaskBegun extends TaskStepBase {
  readonly kind: 'task_begun'
  /** Digest of the output schema; null without one. */
  readonly outputDigest: string | null
  /** Description, possibly edited by a reviewer before the task began. */
  readonly description?: string
  /** Error with which a task begins that only fails; absent for a task that does its work. */
  readonly refusal?: StepError
}

/** Records inputs of the agent that can change between processes: memories, and notes of earlier runs. */
export interface NotesRead extends TaskStepBase {
  readonly kind: 'notes_read'
  readonly notes: TaskNotes
}

/** Texts for sections of the first prompt. */
export interface TaskNotes {
  /** Name and text of each memory scope with entries. */
  readonly memories: readonly { readonly scope: string; readonly text: string }[]
  /** Notes of earlier runs of the same task. */
  readonly improvement?: string
}

/** Records the reply of a model. */
export interface ModelTurnEnded extends TaskStepBase {
  readonly kind: 'model_turn'
  readonly iterationIndex: number
  readonly reply: ModelReply
  readonly latencyMs: number
  readonly cost?: CostEstimate
  /** Usage that budgets count; absent if the provider reported both counts of tokens. */
  readonly counted?: CountedUse
  /** Ids of the directives that the call delivered. */
  readonly directiveIds: readonly string[]
  /** Digest of the messages, tools and output schema of the request; absent in a run that records no steps. */
  readonly requestDigest?: string
  /** Names that the reply calls and that were not tools of the task; absent if there are none. */
  readonly unknownTools?: readonly string[]
}

/** Fields of a step that records a step of a handler, or a compensation. */
interface OfHandlerStep {
  /** Number among the operations in the attempt, or among its compensations, from 0. */
  readonly ordinal: number
  readonly isCompensation?: true
  readonly name: string
}

/** Fields of a step that records an operation of a handler. */
interface OfOperation {
  /** Number of the operation among those that the handler asked for in the attempt, from 0; absent for other work. */
  readonly ordinal?: number
}

interface StepToolCall {
  readonly toolName: string
  /** Digest of the arguments as JSON, else of their text. */
  readonly inputDigest: string
}

/** Records the intent to call a tool that must not be called twice. */
export interface ToolCallBegun extends TaskStepBase, StepToolCall, OfOperation {
  readonly kind: 'tool_begun'
  readonly iterationIndex: number
  /** Position of the call in its turn, from 0, because ids of models may repeat. */
  readonly position: number
}

/** Records usage that an agent tool reported. */
export interface AgentUsed extends TaskStepBase, AgentUse {
  readonly kind: 'agent_used'
}

/** Records the end of a tool call; without the call in a run that records no steps. */
export interface ToolCallEnded extends TaskStepBase, Partial<StepToolCall>, OfOperation {
  readonly kind: 'tool_ended'
  readonly iterationIndex: number
  /** Position of the call in its turn, from 0. */
  readonly position: number
  readonly durationMs: number
  /** Text for the model. */
  readonly text: string
  /** Present if the call ends the task, such as a reviewer's early exit. */
  readonly error?: StepError
  /** Whole result of a tool that is the handler of a task, or that a handler calls. */
  readonly result?: ToolResult
}

/** Records the output of a handler. */
export interface HandlerEnded extends TaskStepBase {
  readonly kind: 'handler_ended'
  /** Digest of the description and the context that the handler received. */
  readonly inputDigest: string
  readonly text: string
  readonly value?: unknown
  readonly parts?: readonly MessagePart[]
}

/** Records the end of a step of a handler. */
export interface HandlerStepEnded extends TaskStepBase, OfHandlerStep {
  readonly kind: 'handler_step'
  /** Its result; absent if it returned nothing, or failed. */
  readonly result?: unknown
  readonly error?: StepError
}

/** Records a failed try at a step of a handler that is tried again. */
export interface HandlerStepFailed extends TaskStepBase, OfHandlerStep {
  readonly kind: 'handler_step_failed'
  readonly error: StepError
}

/** Records that a handler failed or was cancelled, and that its compensations begin. */
export interface CompensationBegun extends TaskStepBase {
  readonly kind: 'compensation_begun'
  readonly error: StepError
}

/** Records the start of a delegation, by an agent or by a handler. */
export interface DelegationBegun extends TaskStepBase, OfOperation {
  readonly kind: 'delegation_begun'
  /** Idempotency key of the tool call or of the operation that began it. */
  readonly callKey: string
  /** Digest of the texts and the inputs of a task that a handler adds. */
  readonly inputDigest?: string
  readonly delegationId: string
  /** Attempt that runs the ensemble of the delegating agent; absent for the ensemble of the run and for handlers. */
  readonly parent?: { readonly taskName: string; readonly attempt: number }
  /** Present if the task continues the conversation of the agent that handed it off. */
  readonly handoff?: true
  /** Tool of an ensemble whose call added the task; absent for a delegation to an agent and for handlers. */
  readonly toolName?: string
  readonly workerRole: string
  readonly taskDescription: string
  /** Name of the delegated task, unique in the run. */
  readonly workerTask: string
  readonly workerTaskIndex: number
}

/** Records the end of a delegation. */
export interface DelegationEnded extends TaskStepBase {
  readonly kind: 'delegation_ended'
  readonly delegationId: string
}

/** Records the opening of a review. */
export interface ReviewOpenedStep extends TaskStepBase {
  readonly kind: 'gate_opened'
  readonly reviewId: string
  readonly timing: ReviewTiming
  /** Identifies the review within its attempt. */
  readonly slot: string
  /** Time at which the review opened, in milliseconds since 1970. */
  readonly openedAt: number
  /** Digest of everything that a decision covers: inputs, code and overrides of the task, question, call and output. */
  readonly basis: string
  /** JSON Schema of the answer to a question of a tool; absent for an approval of its call. */
  readonly answerSchema?: TSchema
}

/** Records the end of a review: decided, timed out or withdrawn. */
export interface ReviewClosedStep extends TaskStepBase {
  readonly kind: 'gate_closed'
  readonly reviewId: string
  readonly decision: ReviewAnswer
  readonly timedOut: boolean
  /** Whether the review was withdrawn because another review ended the run early. */
  readonly withdrawn?: boolean
  /** Reason why there is no decision; `decision` is then not used. */
  readonly error?: StepError
}

/** Error in the form that a later process needs. */
export interface StepError {
  readonly code: TuttiError['code']
  readonly message: string
  readonly retryable: boolean
  readonly details?: Readonly<Record<string, unknown>>
}

/** Records the failure of an attempt at a task. */
export interface TaskFailedStep extends TaskStepBase {
  readonly kind: 'task_failed'
  readonly error: StepError
  /** Usage of the attempt. */
  readonly used: Usage
  /** Whether another attempt follows. */
  readonly willRetry: boolean
  /** Input digest of the handler; absent for a task of an agent. */
  readonly inputDigest?: string
  /** Revision for the next attempt. */
  readonly revision?: Revision
}

/** A revision that a reviewer requested. */
export interface Revision {
  readonly feedback: string
  /** Output of the previous attempt. */
  readonly output: string
}

/** Records the completion of a task. */
export interface TaskCompletedStep extends TaskStepBase {
  readonly kind: 'task_completed'
  /** Text that later tasks receive. */
  readonly output: string
  /** Output as a value, if the task declares a schema. */
  readonly structured?: unknown
  /** Usage of the attempt. */
  readonly used: Usage
  readonly durationMs: number
  /**
   * Finish reason of the model's last answer; absent if no model was called.
   */
  readonly finishReason?: FinishReason
  /** Error with which a reviewer ended the run after this task; absent otherwise. */
  readonly exit?: StepError
}

/** Records a task that will not run. */
export interface TaskSkippedStep extends StepBase {
  readonly kind: 'task_skipped'
  readonly taskName: string
  /** Whether a condition is the reason: its own, or those of its context. */
  readonly excluded?: true
  /** Task that its choice let run, null for none; absent if other tasks are the reason. */
  readonly chosen?: string | null
}

/** A checkpoint of a run. */
export type RunStep =
  | RunBegun
  | TasksChanged
  | RunForkedStep
  | ResultGiven
  | EventGiven
  | CancelAsked
  | ModelSwitchedStep
  | ModelCallFailed
  | DirectiveTaken
  | TaskBegun
  | NotesRead
  | ModelTurnEnded
  | ToolCallBegun
  | AgentUsed
  | ToolCallEnded
  | HandlerEnded
  | HandlerStepEnded
  | HandlerStepFailed
  | CompensationBegun
  | DelegationBegun
  | DelegationEnded
  | ReviewOpenedStep
  | ReviewClosedStep
  | TaskFailedStep
  | TaskCompletedStep
  | TaskSkippedStep

/** A step that belongs to a task. */
export type TaskStep = Extract<RunStep, TaskStepBase>

/** Step of the kind `K`. */
export type StepOf<K extends RunStep['kind']> = Extract<RunStep, { readonly kind: K }>
