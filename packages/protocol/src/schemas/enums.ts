/** Enumerations of the wire. Each value is sent as its name. */
import Type from 'typebox'

import { REVIEW_KINDS } from './review-kinds.ts'
import {
  isTerminalRunStatus,
  isWaitingRunStatus,
  RUN_STATUSES,
  TERMINAL_RUN_STATUSES,
  type WaitingRunStatus,
} from './run-status.ts'

import type { Static } from '../static.ts'

export { isTerminalRunStatus, isWaitingRunStatus, TERMINAL_RUN_STATUSES }
export type { WaitingRunStatus }

/** Order in which the tasks of a run execute. */
export const Workflow = Type.Enum(['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL'])
export type Workflow = Static<typeof Workflow>

/** Mode of a replay: with all results of the recorded run, or with live models. */
export const ReplayMode = Type.Enum(['frozen', 'models'])
export type ReplayMode = Static<typeof ReplayMode>

/** Priority of a run among the runs that wait to start. */
export const RunPriority = Type.Enum(['low', 'normal', 'high'])
export type RunPriority = Static<typeof RunPriority>

/**
 * Status of a run. CANCELLING: a cancel was requested and work is still stopping. WAITING_REVIEW: every task that
 * could continue waits, and a person or the caller can decide at least one open review. WAITING: every task that could
 * continue waits, for external events or times only. WAITING_FOR_BUILD: no process has the code that began the run.
 * REJECTED: the submission was refused; such a run is never stored.
 */
export const RunStatus = Type.Enum(RUN_STATUSES)
export type RunStatus = Static<typeof RunStatus>

const ANY_RUN_STATUS = `(?:${RunStatus.enum.join('|')})`

/** Pattern of {@link RunStatusList}. */
export const RUN_STATUS_LIST = `^${ANY_RUN_STATUS}(?:,${ANY_RUN_STATUS})*$`

/** One status of a run, or several separated by commas, such as `RUNNING,WAITING_REVIEW`. */
export const RunStatusList = Type.Unsafe<RunStatus | `${RunStatus},${string}`>({
  type: 'string',
  pattern: RUN_STATUS_LIST,
})
export type RunStatusList = Static<typeof RunStatusList>

/** Statuses of runs that have not ended. */
export const UNFINISHED_RUN_STATUSES: readonly RunStatus[] = RunStatus.enum.filter(
  (status) => !isTerminalRunStatus(status),
)

/** The same in the form of a query. */
export const UNFINISHED_RUN_STATUS_LIST: RunStatusList = `ACCEPTED,${UNFINISHED_RUN_STATUSES.filter(
  (status) => status !== 'ACCEPTED',
).join(',')}`

/** Status of one task of a run. */
export const TaskStatus = Type.Enum([
  'PENDING',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
])
export type TaskStatus = Static<typeof TaskStatus>

/** Final status of a run that was started, as in `run_result`. */
export const RunOutcome = Type.Enum(['COMPLETED', 'FAILED', 'CANCELLED'])
export type RunOutcome = Static<typeof RunOutcome>

/** Effect of a cancel: `abort` aborts work in flight, `boundary` stops before the next task. */
export const CancelMode = Type.Enum(['abort', 'boundary'])
export type CancelMode = Static<typeof CancelMode>

/**
 * Cause of a cancel:
 *
 * - CALLER: a caller requested it;
 * - CLIENT_LEFT: the only client that could read the result disconnected;
 * - DEADLINE: the deadline of a caller passed;
 * - LIMIT: the run exceeded the cost or tokens that a caller allows;
 * - SERVER: code of the server, without a caller.
 */
export const CancelCause = Type.Enum(['CALLER', 'CLIENT_LEFT', 'DEADLINE', 'LIMIT', 'SERVER'])
export type CancelCause = Static<typeof CancelCause>

/**
 * Decision of a reviewer. CONTINUE accepts, EDIT replaces the reviewed value, REJECT repeats the task with the
 * reviewer's feedback, EXIT_EARLY ends the run and keeps its results.
 */
export const ReviewDecisionKind = Type.Enum(['CONTINUE', 'EDIT', 'EXIT_EARLY', 'REJECT'])
export type ReviewDecisionKind = Static<typeof ReviewDecisionKind>

/** Time at which a review opens, relative to its task. */
export const ReviewTiming = Type.Enum(['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION'])
export type ReviewTiming = Static<typeof ReviewTiming>

/**
 * Kind of a review, by the request to its reviewer:
 *
 * - TASK_INPUT: whether a task may begin with its description;
 * - TASK_OUTPUT: whether the output of a task is accepted;
 * - TOOL_CALL: whether a tool may be called with its input;
 * - QUESTION: an answer to the question of a tool, in `prompt`;
 * - CLIENT_TOOL: the result of a tool that the client of the run executes. No person decides it;
 * - EVENT: an external event, or the end of a time. No person decides it. A wait that people may decide too is a QUESTION.
 */
export const ReviewKind = Type.Enum([...REVIEW_KINDS])
export type ReviewKind = Static<typeof ReviewKind>

/**
 * Kinds of the reviews that people decide. Calls of client tools are answered by the client of their run, and waits by events
 * and timers.
 */
export const PERSON_REVIEW_KINDS: readonly ReviewKind[] = ReviewKind.enum.filter(
  (kind) => kind !== 'CLIENT_TOOL' && kind !== 'EVENT',
)

/** Kinds of the reviews that the caller of a run decides over a protocol: all but waits. */
export const CALLER_REVIEW_KINDS: readonly ReviewKind[] = ReviewKind.enum.filter(
  (kind) => kind !== 'EVENT',
)

/** Returns the status of a run in which every task that could continue waits, from the kinds of its open reviews. */
export function toWaitingStatus(kinds: readonly ReviewKind[]): WaitingRunStatus {
  return kinds.some((kind) => CALLER_REVIEW_KINDS.includes(kind)) ? 'WAITING_REVIEW' : 'WAITING'
}

/** Action taken when a review times out. */
export const ReviewTimeoutAction = Type.Enum(['CONTINUE', 'EXIT_EARLY', 'FAIL'])
export type ReviewTimeoutAction = Static<typeof ReviewTimeoutAction>

/** Tasks that are reviewed when they have no review setting. */
export const ReviewPolicy = Type.Enum(['NEVER', 'AFTER_EVERY_TASK', 'AFTER_LAST_TASK'])
export type ReviewPolicy = Static<typeof ReviewPolicy>

/** Outcome of a tool call of a run, as in `tool_called`. */
export const ToolOutcome = Type.Enum(['SUCCESS', 'FAILURE'])
export type ToolOutcome = Static<typeof ToolOutcome>

/**
 * Reason why a model ended its answer: it was complete (`stop`), it requested tools, it reached its output limit
 * (`length`), a filter of the provider blocked it, or the model refused. `unknown`: the provider gave no reason, or a
 * different one.
 */
export const FinishReason = Type.Enum([
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'refusal',
  'unknown',
])
export type FinishReason = Static<typeof FinishReason>

/** Lifecycle state of the server. */
export const LifecycleState = Type.Enum(['STARTING', 'READY', 'DRAINING', 'STOPPED'])
export type LifecycleState = Static<typeof LifecycleState>

/**
 * Permission of an API key. `admin` includes all others, and is required to drain the server and to read its audit
 * log.
 */
export const Scope = Type.Enum([
  'runs:read',
  'runs:write',
  'runs:control',
  'reviews:decide',
  'events:send',
  'tools:invoke',
  'admin',
])
export type Scope = Static<typeof Scope>

/** Amount of detail that is stored for a trace. OFF stores no prompts. */
export const CaptureMode = Type.Enum(['OFF', 'STANDARD', 'DETAILED', 'FULL'])
export type CaptureMode = Static<typeof CaptureMode>

/** Action of a directive. */
export const DirectiveAction = Type.Enum(['SET_MODEL_TIER', 'APPLY_PROFILE'])
export type DirectiveAction = Static<typeof DirectiveAction>

/** Urgency of a directive or of a request from a peer; NORMAL when absent. */
export const Priority = Type.Enum(['CRITICAL', 'HIGH', 'NORMAL', 'LOW'])
export type Priority = Static<typeof Priority>
