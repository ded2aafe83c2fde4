export { ERROR_CODES, FAILURE_CODES, isErrorCode, isFailureCode } from './error-codes.ts'
export type { ErrorCode, ErrorCodeInfo, FailureCode, FailureCodeInfo } from './error-codes.ts'
export { decode } from './decode.ts'
export type { Decoded } from './decode.ts'
export { describeProblems } from './problems/describe-problems.ts'
export { Problem } from './schemas/problem.ts'
export {
  EventPosition,
  LoggedRunEvent,
  RunEvent,
  RUN_EVENT_TYPES,
  type RunEventOf,
} from './schemas/run-event.ts'
export {
  EnsembleCompleted,
  EnsembleStarted,
  PlannedTask,
  RunCancelling,
  RunOutput,
  RunQueued,
  RunResult,
  RunResumed,
} from './schemas/events/run-events.ts'
export {
  MetricsSnapshot,
  TaskCompleted,
  TaskFailed,
  TaskInput,
  TaskSkipped,
  TaskStarted,
} from './schemas/events/task-events.ts'
export {
  DelegationCompleted,
  DelegationFailed,
  DelegationStarted,
  FileChanged,
  LlmIterationCompleted,
  LlmIterationStarted,
  LlmMessage,
  Token,
  ToolCalled,
} from './schemas/events/agent-events.ts'
export {
  DirectiveActive,
  ModelSwitchedEvent,
  ReviewDecided,
  ReviewRequested,
  ReviewTimedOut,
} from './schemas/events/steering-events.ts'
export { CostEstimate, RunMetrics } from './schemas/run-metrics.ts'
export {
  CancelMode,
  isTerminalRunStatus,
  ReviewDecisionKind,
  ReviewPolicy,
  ReviewTimeoutAction,
  ReviewTiming,
  RunOutcome,
  RunStatus,
  TaskStatus,
  TERMINAL_RUN_STATUSES,
  ToolOutcome,
  Workflow,
} from './schemas/enums.ts'
