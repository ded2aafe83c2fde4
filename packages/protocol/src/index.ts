/**
 * `@tutti/protocol`: schemas, types and codes of everything that Tutti sends over the wire.
 *
 * A schema and the type of its values share a name. The package has no I/O except the clock and runs in browsers.
 */

// To read a value from outside
export {
  decode,
  decodeClientMessage,
  decodeLoggedRunEvent,
  decodeRunEvent,
  decodeServerMessage,
} from './decode.ts'
export type { Decoded, DecodeOptions } from './decode.ts'
export type { Static } from './static.ts'
export { describeProblems, MAX_DEPTH, MAX_PROBLEMS } from './problems/describe-problems.ts'
export { shortList, shortText } from './problems/short-text.ts'
export type { TagMap, TagValue } from './schemas/scalars.ts'
export { suggest, unknownName } from './problems/suggest.ts'
export { Problem } from './schemas/problem.ts'

// To respond with a code
export { ERROR_CODES, FAILURE_CODES, isErrorCode, isFailureCode } from './error-codes.ts'
export type { ErrorCode, ErrorCodeInfo, FailureCode, FailureCodeInfo } from './error-codes.ts'
export { ErrorBody, ErrorCodeName } from './schemas/error-body.ts'

// To read the time
export { eventTime } from './event-time.ts'
export { BoundedMap } from './bounded-map.ts'
export { backoffMs, withJitter, type BackoffOptions, type JitterOptions } from './backoff.ts'
export { MAX_TIMER_MS, startTimer, systemClock, type Clock } from './clock.ts'

// To send a command to a run
export {
  commandEntry,
  COMMANDS,
  isCommandEvent,
  RUN_COMMAND_KINDS,
  RunCommand,
} from './commands.ts'
export type {
  CommandBody,
  CommandEntry,
  CommandEntryOf,
  CommandEvent,
  CommandResponse,
  ReplyTo,
  RunCommandKind,
  RunCommandOf,
} from './commands.ts'
export { readCommandBody } from './command-body.ts'
export { DirectiveInput, ReviewVerdict } from './schemas/run-command.ts'

// To serve or call a route
export { COMMON_ERRORS, commandPath, routePath, ROUTES } from './routes.ts'
export type { OtherAnswer, Route, RouteName, RouteParams } from './routes.ts'

// To emit, store or follow the events of a run
export { MessagePart } from './schemas/message-part.ts'
export { EventPosition, LoggedRunEvent, RUN_EVENT_TYPES, RunEvent } from './schemas/run-event.ts'
export type { RunEventOf } from './schemas/run-event.ts'
export {
  EnsembleCompleted,
  AddedTask,
  EnsembleStarted,
  EventUnreadable,
  PlannedTask,
  RunCancelling,
  RunOutput,
  RunQueued,
  RunResultEvent,
  RunForked,
  RunResumed,
} from './schemas/events/run-events.ts'
export {
  MetricsSnapshot,
  TaskCompleted,
  TaskAttemptFailed,
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
  LlmIterationFailed,
  LlmIterationStarted,
  LlmMessage,
  Reasoning,
  Token,
  ToolCalled,
  ToolProgressed,
} from './schemas/events/agent-events.ts'
export {
  AgentToolCompleted,
  AgentToolError,
  AgentToolInvoked,
  AgentToolMode,
  AgentToolProgress,
  AgentToolProtocol,
  AgentToolTerminated,
  AgentToolTurn,
} from './schemas/events/agent-tool-events.ts'
export { RequestedToolCall } from './schemas/events/positions.ts'
export {
  DirectiveActive,
  DirectiveDelivered,
  ModelSwitchedEvent,
  ReviewDecided,
  ReviewRequested,
  ReviewTimedOut,
  ReviewWithdrawn,
} from './schemas/events/steering-events.ts'

// To write JSON as lines
export { escapeLineBreaks } from './json-line.ts'

// To rebuild a run from its events
export { applyRunEvent, runStateAfter } from './run-state/apply-run-event.ts'
export {
  emptyRunState,
  type DelegationState,
  type FileChangeState,
  type RunState,
} from './run-state/run-state.ts'
export { formatCancelOrigin } from './run-state/format-cancel-origin.ts'
export type { AgentCallState } from './run-state/agent-calls.ts'
export type { Delivery, DirectiveState } from './run-state/directives.ts'
export {
  findOutputTask,
  readRunOutput,
  toHistoryMessages,
  toRunMessages,
  toUserMessage,
  type RunGiven,
  type RunMessages,
} from './run-state/run-messages.ts'
export type { ReviewState } from './run-state/reviews.ts'
export type {
  EarlierAttempt,
  TaskError,
  TaskGiven,
  TaskMetrics,
  TaskState,
} from './run-state/task-state.ts'
export type { ToolCallState, TurnFailure, TurnState } from './run-state/turn-state.ts'
export type { AgentUsage, AttemptUsage, RunTotals } from './run-state/usage.ts'

// To show a run in another protocol
export { isCallOf, toCallId } from './projection/requested-calls.ts'
export { RunProjection, type RunProjectionOptions } from './projection/run-projection.ts'
export type {
  BlockClosed,
  BlockGrown,
  BlockOpened,
  BlocksWithdrawn,
  CallEnded,
  CallRequested,
  WaitingReview,
  OutputBlock,
  OutputStated,
  ClosedReview,
  OpenedReview,
  RunEnded,
  RunOperation,
  TaskOperation,
  TaskOutput,
  TurnStarted,
} from './projection/operations.ts'

// To be called as an agent, and to count usage
export { USAGE_EXTENSION } from './usage-extension.ts'
export { addAmounts, MAX_AMOUNT, readCostUsd, readTokenCount } from './amounts.ts'
export {
  addCosts,
  addCounts,
  addReported,
  addTokens,
  addUsageSums,
  NO_USAGE,
  totalTokens,
  type TokenTotals,
  type UsageSum,
} from './usage-sum.ts'
export {
  addEventUsage,
  NO_RUN_USAGE,
  readRunCost,
  readEventUsage,
  USAGE_EVENTS,
  type EventUsage,
  type RunUsage,
} from './run-usage.ts'

// To find the inputs that a text needs
export { isTemplateName, TEMPLATE_VARIABLE } from './template-variable.ts'

// To submit, read and steer runs over REST
export {
  RunAccepted,
  RunBudgetBody,
  RunBudgetGiven,
  RunOptionsBody,
  RunOptionsGiven,
  RunReviewBody,
  SubmitRunBody,
  SubmitRunQuery,
  TaskReviewBody,
  TaskReviewSetting,
  TaskDefinitionBody,
  TaskOverrideBody,
} from './schemas/rest/submit-run.ts'
export {
  ListRunsQuery,
  RunDetail,
  RunEventsQuery,
  RunList,
  RunSummary,
  RunTaskDetail,
} from './schemas/rest/runs.ts'
export { ClientToolBody } from './schemas/rest/submit-run.ts'
export {
  HistoryMessage,
  HistoryToolCall,
  MAX_HISTORY_BYTES,
  MAX_HISTORY_MESSAGES,
} from './schemas/history-message.ts'
export {
  CreateThreadBody,
  ListThreadsQuery,
  Thread,
  ThreadList,
  ThreadRun,
  ThreadRunList,
  ThreadRunsQuery,
} from './schemas/rest/threads.ts'
export { CostEstimate, RunMetrics } from './schemas/run-metrics.ts'
export {
  BuildInfo,
  BuildList,
  BuildShareSet,
  CodeDifference,
  MigrateRunBody,
  RunMigrated,
  SetBuildShareBody,
} from './schemas/rest/builds.ts'
export {
  CompareRunsQuery,
  ComparedCall,
  ComparedCallPair,
  ComparedInput,
  ComparedRun,
  ComparedTask,
  ComparedTaskSide,
  ComparedText,
  RunComparison,
  RunDifference,
} from './schemas/rest/compare-runs.ts'
export {
  ForkAction,
  ForkCallPreview,
  ForkPreview,
  ForkReviewPreview,
  ForkRunBody,
  ForkTaskPreview,
  ForkUsage,
} from './schemas/rest/fork-run.ts'
export type { ReplayMode } from './schemas/enums.ts'
export { ReplayRunBody } from './schemas/rest/replay-run.ts'
export {
  CancelAccepted,
  CancelBody,
  CancelRunsBody,
  InjectAccepted,
  InjectBody,
  ModelSwitched,
  RunsCancelled,
  SwitchModelBody,
} from './schemas/rest/run-control.ts'
export {
  AuditEntry,
  AuditList,
  AuditQuery,
  Identity,
  SocketQuery,
  Ticket,
} from './schemas/rest/security.ts'
export { WebhookDelivery, WebhookEventType } from './schemas/rest/webhook.ts'
export {
  ListReviewsQuery,
  PendingReview,
  ReviewDecisionApplied,
  ReviewDecisionBody,
  ReviewList,
} from './schemas/rest/reviews.ts'
export { InvokeToolBody, ToolInvocation } from './schemas/rest/tools.ts'
export {
  Capabilities,
  EnsembleInfo,
  ModelInfo,
  ModelTierInfo,
  PreconfiguredTask,
  ProfileInfo,
  SharedInfo,
  ToolInfo,
} from './schemas/rest/capabilities.ts'
export {
  DrainAccepted,
  Liveness,
  Readiness,
  ServerStatus,
  WorkspaceEntry,
  WorkspaceFileQuery,
  WorkspaceFiles,
  WorkspaceFilesQuery,
} from './schemas/rest/server.ts'

// To check a number from outside
export {
  findExcessProblems,
  MAX_COST_USD,
  MAX_COUNT,
  MAX_DURATION_MS,
  MAX_TIME_MS,
  maximumOf,
} from './limits.ts'

// To talk over a WebSocket: client to server
export {
  CLIENT_MESSAGE_TYPES,
  ClientMessage,
  CommandMessage,
  Ping,
  RunFork,
  RunMigrate,
  RunReplay,
  RunRequest,
  StateQuery,
  Subscribe,
} from './messages/client-message.ts'
export {
  DirectiveAck,
  DirectiveMessage,
  ReviewDecision,
  ReviewDecisionAck,
  RunControl,
  RunControlAck,
} from './messages/control-messages.ts'
export {
  CapabilityQuery,
  DeliverySpec,
  TaskRequest,
  ToolRequest,
  TraceContextFields,
} from './messages/peer-requests.ts'

// To talk over a WebSocket: server to client
export { SERVER_MESSAGE_TYPES, ServerMessage } from './messages/server-message.ts'
export { Heartbeat, Hello, IterationSnapshot, Pong } from './messages/connection-messages.ts'
export {
  CommandAck,
  ErrorMessage,
  ForkPreviewed,
  RunAck,
  RunMigrateAck,
  StateResponse,
  SubscribeAck,
} from './messages/run-messages.ts'
export {
  CapabilityResponse,
  CapacityUpdate,
  ProfileApplied,
  TaskAccepted,
  TaskProgress,
  TaskResponse,
  ToolResponse,
} from './messages/peer-messages.ts'
export { CapabilityType, SharedCapability } from './schemas/shared-capability.ts'

// To read a hub of several servers
export {
  HubEvent,
  HubHello,
  HubMessage,
  ProducerInfo,
  ProducerJoined,
  ProducerLeft,
} from './messages/hub-message.ts'

// To exchange traces and task graphs
export { AgentSummary, ExecutionTrace } from './schemas/trace/execution-trace.ts'
export { LlmInteraction, TaskTrace, ToolCallTrace } from './schemas/trace/task-trace.ts'
export { TraceCost, TraceMetrics, TraceTaskMetrics } from './schemas/trace/trace-metrics.ts'
export { DagEdge, DagModel, DagTask } from './schemas/trace/dag-model.ts'

// To run a tool as a process
export { ProcessToolRequest, ProcessToolResponse } from './schemas/process-tool.ts'

// Enumerations
export {
  CancelCause,
  CancelMode,
  DirectiveAction,
  CaptureMode,
  FinishReason,
  isTerminalRunStatus,
  LifecycleState,
  Priority,
  ReviewDecisionKind,
  ReviewPolicy,
  ReviewTimeoutAction,
  PERSON_REVIEW_KINDS,
  ReviewKind,
  ReviewTiming,
  RunOutcome,
  RunStatus,
  RunStatusList,
  Scope,
  TaskStatus,
  TERMINAL_RUN_STATUSES,
  ToolOutcome,
  UNFINISHED_RUN_STATUS_LIST,
  UNFINISHED_RUN_STATUSES,
  Workflow,
} from './schemas/enums.ts'

// For library authors: to walk a JSON Schema
export { compileCheck, compiledCheck, type Check, type CheckOptions } from './compiled-check.ts'
export { findCycles } from './check/cycles.ts'
export { isBounded } from './check/cost.ts'
export { CheckLimitError, CheckRun, MAX_CHECK_STEPS } from './check/check-run.ts'
export {
  createEvaluator,
  type Evaluator,
  type EvaluatorOptions,
  type References,
} from './check/evaluator.ts'
export { createLinearPatterns } from './check/linear-pattern.ts'
export { nativePatterns, type Pattern, type PatternEngine } from './check/pattern.ts'
export { discriminatorOf, type Discriminator } from './problems/choose-member.ts'
export { pointer, valueAt } from './json-pointer.ts'
export { previewOf, receivedOf } from './problems/preview.ts'
export {
  findBigInt,
  formatExactJson,
  hasBigInt,
  mapBigInts,
  toRawIntegers,
  parseExactJson,
  toPlainJson,
  type FoundBigInt,
} from './exact-json.ts'
export {
  BODY_LIMITS,
  findJsonExcess,
  measureJson,
  VALUE_LIMITS,
  type JsonLimits,
  type JsonSize,
} from './json-size.ts'
export {
  markLongIntegers,
  MAX_INTEGER_DIGITS,
  mayHaveLongNumbers,
  unmarkText,
  unmarkValue,
} from './long-numbers.ts'
export { isJsonObject, ownValue, type Schema, type SchemaNode } from './schema-node.ts'
export { ReferenceScope, type ReferenceTarget } from './schema-engine.ts'
