/**
 * The checkpoints of a run: a list of steps, each a recorded side effect that is not repeated.
 * Given the steps of a run, another process continues it without a difference: what a step holds is
 * taken from it, everything else is performed.
 *
 * Steps are plain data that survives JSON. They are not events: an event informs readers, a
 * step holds what the engine needs to continue, such as the whole reply of a model.
 */
import type { ReviewAnswer } from './run-reviewer.ts'
import type { ModelReply } from '../model/chat-model.ts'
import type { AgentUse } from '../usage/budget.ts'
import type { Usage } from '../usage/usage.ts'
import type { ToolResult, TSchema, TuttiError } from '@tutti/core'
import type {
  CancelMode,
  CostEstimate,
  DirectiveAction,
  FinishReason,
  MessagePart,
  Priority,
  ReviewTiming,
} from '@tutti/protocol'

/** The fields of every step. */
interface StepBase {
  /** Working time of the run so far, in milliseconds. */
  readonly runMs: number
}

/** The fields of every step of a task. */
interface TaskStepBase extends StepBase {
  readonly taskName: string
  readonly attempt: number
  /** Working time of the attempt so far, in milliseconds. */
  readonly taskMs: number
}

/** The run began. */
export interface RunBegun extends StepBase {
  readonly kind: 'run_begun'
  /** Milliseconds since 1970. */
  readonly startedAt: number
}

/** The run was asked to end. */
export interface CancelAsked extends StepBase {
  readonly kind: 'cancel_asked'
  readonly mode: CancelMode
}

/** The next model calls go to another model. */
export interface ModelSwitchedStep extends StepBase {
  readonly kind: 'model_switched'
  /** Its alias in the catalog of the run, or `provider:name`. */
  readonly model: string
  /** Absent when the switch is for the whole run. */
  readonly taskName?: string
  /** The tier that was asked for; of PRIMARY and FALLBACK each task has a model of its own. */
  readonly tier?: string
  /** Place of the rule of the ensemble that made the switch, from 0; absent when a person made it. */
  readonly rule?: number
}

/** A model call failed. Kept only where rules for models count it. */
export interface ModelCallFailed extends StepBase {
  readonly kind: 'model_failed'
}

/** A directive in force. Plain data. */
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
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970; absent when it is in force as long as the run. */
  readonly expiresAt?: number
}

/** A directive was taken up. */
export interface DirectiveTaken extends StepBase {
  readonly kind: 'directive_taken'
  readonly directive: Directive
}

/** An attempt at a task began. */
export interface TaskBegun extends TaskStepBase {
  readonly kind: 'task_begun'
  /** Description as a reviewer edited it before the task began. */
  readonly description?: string
}

/** Inputs of the agent that vary from time to time: memories, and notes of earlier runs. */
export interface NotesRead extends TaskStepBase {
  readonly kind: 'notes_read'
  readonly notes: TaskNotes
}

/** Texts for sections of the first prompt. */
export interface TaskNotes {
  /** Title and text of each memory scope that holds something. */
  readonly memories: readonly { readonly scope: string; readonly text: string }[]
  /** Notes of earlier runs of the same task. */
  readonly improvement?: string
}

/** A model gave its reply. */
export interface ModelTurnEnded extends TaskStepBase {
  readonly kind: 'model_turn'
  readonly iterationIndex: number
  readonly reply: ModelReply
  readonly latencyMs: number
  readonly cost?: CostEstimate
  /** Ids of the directives that the call delivered. */
  readonly directiveIds: readonly string[]
}

/** A tool that must not be called twice is about to be called. */
export interface ToolCallBegun extends TaskStepBase {
  readonly kind: 'tool_begun'
  readonly iterationIndex: number
  /** Which call of its turn it is, from 0; ids of models may repeat. */
  readonly position: number
}

/** Another agent, which a tool asked, has used something. */
export interface AgentUsed extends TaskStepBase, AgentUse {
  readonly kind: 'agent_used'
}

/** A tool call ended. */
export interface ToolCallEnded extends TaskStepBase {
  readonly kind: 'tool_ended'
  readonly iterationIndex: number
  /** Which call of its turn it is, from 0. */
  readonly position: number
  readonly durationMs: number
  /** The text for the model. */
  readonly text: string
  /** Present when the call ends the task, as a reviewer's early exit does. */
  readonly error?: StepError
  /** The whole result, of a tool that does a task in place of an agent. */
  readonly result?: ToolResult
}

/** A handler gave the output of its task. */
export interface HandlerEnded extends TaskStepBase {
  readonly kind: 'handler_ended'
  readonly text: string
  readonly value?: unknown
  readonly parts?: readonly MessagePart[]
}

/** An agent's work was handed to another task. */
export interface DelegationBegun extends TaskStepBase {
  readonly kind: 'delegation_begun'
  /** Idempotency key of the tool call that began it. */
  readonly callKey: string
  readonly delegationId: string
  readonly workerRole: string
  readonly taskDescription: string
  /** Name of the task that does the work, unique in the run. */
  readonly workerTask: string
  readonly workerTaskIndex: number
}

/** A delegated task ended. */
export interface DelegationEnded extends TaskStepBase {
  readonly kind: 'delegation_ended'
  readonly delegationId: string
}

/** A reviewer is asked. */
export interface ReviewOpenedStep extends TaskStepBase {
  readonly kind: 'gate_opened'
  readonly reviewId: string
  readonly timing: ReviewTiming
  /** Identifies the review within its attempt. */
  readonly slot: string
  /** Milliseconds since 1970. */
  readonly openedAt: number
  /** JSON Schema of the answer that a tool asks for; absent when it asks for approval of its call. */
  readonly answerSchema?: TSchema
}

/** A review was decided, its time was over, or it was withdrawn. */
export interface ReviewClosedStep extends TaskStepBase {
  readonly kind: 'gate_closed'
  readonly reviewId: string
  readonly decision: ReviewAnswer
  readonly timedOut: boolean
  /** True when there was no decision, because another review ended the run early. */
  readonly withdrawn?: boolean
  /** The reason why there is no decision; the field `decision` has no meaning then. */
  readonly error?: StepError
}

/** An error, as far as a later process needs it. */
export interface StepError {
  readonly code: TuttiError['code']
  readonly message: string
  readonly retryable: boolean
  readonly details?: Readonly<Record<string, unknown>>
}

/** An attempt at a task failed. */
export interface TaskFailedStep extends TaskStepBase {
  readonly kind: 'task_failed'
  readonly error: StepError
  /** Usage of the attempt. */
  readonly used: Usage
  /** Whether another attempt follows. */
  readonly willRetry: boolean
  /** The revision for the next attempt. */
  readonly revision?: Revision
}

/** A revision that a reviewer requested. */
export interface Revision {
  readonly feedback: string
  /** The output of the attempt before. */
  readonly output: string
}

/** A task is done. */
export interface TaskCompletedStep extends TaskStepBase {
  readonly kind: 'task_completed'
  /** The text that later tasks are given. */
  readonly output: string
  /** The output as a value, when the task declares a schema. */
  readonly structured?: unknown
  /** Usage of the attempt. */
  readonly used: Usage
  readonly durationMs: number
  /** Finish reason of the last answer of the model; absent in steps of earlier versions. */
  readonly finishReason?: FinishReason
  /** Whether a reviewer ended the run with it. */
  readonly exit?: StepError
}

/** A task will not run. */
export interface TaskSkippedStep extends StepBase {
  readonly kind: 'task_skipped'
  readonly taskName: string
}

/** One checkpoint of a run. */
export type RunStep =
  | RunBegun
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
  | DelegationBegun
  | DelegationEnded
  | ReviewOpenedStep
  | ReviewClosedStep
  | TaskFailedStep
  | TaskCompletedStep
  | TaskSkippedStep

/** A step of a task. */
export type TaskStep = Extract<RunStep, TaskStepBase>

/** The step of that kind. */
export type StepOf<K extends RunStep['kind']> = Extract<RunStep, { readonly kind: K }>
