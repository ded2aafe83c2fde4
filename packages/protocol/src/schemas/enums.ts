/** The closed word lists of the wire. Each is sent as its name, as AgentEnsemble's enums are. */
import Type from 'typebox'

/** How the tasks of a run are ordered. AgentEnsemble wire. */
export const Workflow = Type.Enum(['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL'])
export type Workflow = Type.Static<typeof Workflow>

/**
 * Where a run stands. The control API's five, and ours: CANCELLING (asked to stop, work still ends)
 * and WAITING_REVIEW (every task that could go on waits for a person). A REJECTED run is never stored.
 */
export const RunStatus = Type.Enum([
  'ACCEPTED',
  'RUNNING',
  'CANCELLING',
  'WAITING_REVIEW',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REJECTED',
])
export type RunStatus = Type.Static<typeof RunStatus>

const ANY_RUN_STATUS = `(?:${RunStatus.enum.join('|')})`

/** The pattern of {@link RunStatusList}. */
export const RUN_STATUS_LIST = `^${ANY_RUN_STATUS}(?:,${ANY_RUN_STATUS})*$`

/** One status of a run, or several with commas between them, such as `RUNNING,WAITING_REVIEW`. Ours. */
export const RunStatusList = Type.Unsafe<RunStatus | `${RunStatus},${string}`>({
  type: 'string',
  pattern: RUN_STATUS_LIST,
})
export type RunStatusList = Type.Static<typeof RunStatusList>

/** The statuses that a run never leaves. */
export const TERMINAL_RUN_STATUSES = [
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REJECTED',
] as const satisfies readonly RunStatus[]

/** True when a run with this status is over. */
export function isTerminalRunStatus(
  status: RunStatus,
): status is (typeof TERMINAL_RUN_STATUSES)[number] {
  return TERMINAL_RUN_STATUSES.some((terminal) => terminal === status)
}

/** Where one task of a run stands. */
export const TaskStatus = Type.Enum([
  'PENDING',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
])
export type TaskStatus = Type.Static<typeof TaskStatus>

/** How a run that was started has ended; the statuses of `run_result`. */
export const RunOutcome = Type.Enum(['COMPLETED', 'FAILED', 'CANCELLED'])
export type RunOutcome = Type.Static<typeof RunOutcome>

/** How a cancel takes effect: abort what is in flight, or stop at the next task (the seed's rule). */
export const CancelMode = Type.Enum(['abort', 'boundary'])
export type CancelMode = Type.Static<typeof CancelMode>

/** What a reviewer can decide. REJECT (run the task again with feedback) is ours. */
export const ReviewDecisionKind = Type.Enum(['CONTINUE', 'EDIT', 'EXIT_EARLY', 'REJECT'])
export type ReviewDecisionKind = Type.Static<typeof ReviewDecisionKind>

/** When a review opens, relative to its task. AgentEnsemble wire. */
export const ReviewTiming = Type.Enum(['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION'])
export type ReviewTiming = Type.Static<typeof ReviewTiming>

/** What happens to a review that times out. AgentEnsemble wire. */
export const ReviewTimeoutAction = Type.Enum(['CONTINUE', 'EXIT_EARLY', 'FAIL'])
export type ReviewTimeoutAction = Type.Static<typeof ReviewTimeoutAction>

/** Which tasks are reviewed when a task does not say so itself. */
export const ReviewPolicy = Type.Enum(['NEVER', 'AFTER_EVERY_TASK', 'AFTER_LAST_TASK'])
export type ReviewPolicy = Type.Static<typeof ReviewPolicy>

/** How a tool call inside a run ended, as `tool_called` says it. AgentEnsemble wire. */
export const ToolOutcome = Type.Enum(['SUCCESS', 'FAILURE'])
export type ToolOutcome = Type.Static<typeof ToolOutcome>

/**
 * Why a model ended its answer: it was done, it asked for tools, it reached its output limit, a filter of
 * the provider blocked it, or it refused. `unknown`: the provider gave no reason, or none of these. Ours.
 */
export const FinishReason = Type.Enum([
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'refusal',
  'unknown',
])
export type FinishReason = Type.Static<typeof FinishReason>

/** Where the server itself stands. AgentEnsemble REST. */
export const LifecycleState = Type.Enum(['STARTING', 'READY', 'DRAINING', 'STOPPED'])
export type LifecycleState = Type.Static<typeof LifecycleState>

/** What an API key may do. `admin` may do everything, and alone drain the server and read its audit trail. */
export const Scope = Type.Enum([
  'runs:read',
  'runs:write',
  'runs:control',
  'reviews:decide',
  'tools:invoke',
  'admin',
])
export type Scope = Type.Static<typeof Scope>

/** How much a trace keeps. DETAILED is the seed's word, the others AgentEnsemble's. */
export const CaptureMode = Type.Enum(['OFF', 'STANDARD', 'DETAILED', 'FULL'])
export type CaptureMode = Type.Static<typeof CaptureMode>

/** Actions of a directive. AgentEnsemble wire. */
export const DirectiveAction = Type.Enum(['SET_MODEL_TIER', 'APPLY_PROFILE'])
export type DirectiveAction = Type.Static<typeof DirectiveAction>

/** How urgent a directive or a peer's request is. AgentEnsemble wire; NORMAL when absent. */
export const Priority = Type.Enum(['CRITICAL', 'HIGH', 'NORMAL', 'LOW'])
export type Priority = Type.Static<typeof Priority>
