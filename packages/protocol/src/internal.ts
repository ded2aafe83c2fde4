/** For the other packages of Tutti only: its names may change in every version. */
export type { Decoded, DecodeOptions } from './decode.ts'
export type { Static } from './static.ts'
export { describeProblems, MAX_DEPTH, MAX_PROBLEMS } from './problems/describe-problems.ts'
export { formatMoreProblems } from './problems/more-problems.ts'
export { shortList, shortText } from './problems/short-text.ts'
export {
  ExternalEventKey,
  ExternalEventName,
  MAX_FAIRNESS_KEY_LENGTH,
  type TagMap,
  type TagValue,
} from './schemas/scalars.ts'
export { suggest, unknownName } from './problems/suggest.ts'
export { Problem } from './schemas/problem.ts'
export { isFailureCode } from './error-codes.ts'
export { ErrorCodeName } from './schemas/error-body.ts'
export { eventTime } from './event-time.ts'
export { BoundedMap } from './bounded-map.ts'
export { backoffMs, withJitter } from './backoff.ts'
export { type Clock, MAX_TIMER_MS, startTimer, systemClock } from './clock.ts'
export {
  type CommandBody,
  commandEntry,
  type CommandResponse,
  COMMANDS,
  isCommandEvent,
  type ReplyTo,
  RUN_COMMAND_KINDS,
  type RunCommandKind,
  type RunCommandOf,
} from './commands.ts'
export { readCommandBody } from './command-body.ts'
export { DirectiveInput, ReviewVerdict } from './schemas/run-command.ts'
export { commandPath, COMMON_ERRORS, type Route } from './routes.ts'
export { MessagePart } from './schemas/message-part.ts'
export { EventPosition, RUN_EVENT_TYPES } from './schemas/run-event.ts'
export {
  AddedTask,
  EnsembleCompleted,
  EnsembleStarted,
  EventUnreadable,
  PlannedTask,
  RunCancelling,
  RunForked,
  RunOutput,
  RunQueued,
  RunResultEvent,
  RunResumed,
} from './schemas/events/run-events.ts'
export {
  MetricsSnapshot,
  TaskAttemptFailed,
  TaskCompleted,
  TaskFailed,
  TaskInput,
  HandlerStepEndedEvent,
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
  EventLink,
  EventLinkBody,
  EventLinkContent,
  EventReceived,
  LinkedEventData,
  LinkedEventReceived,
  SendEventBody,
} from './schemas/rest/external-events.ts'
export {
  AwaitedEvent,
  DecidingEvent,
  DirectiveActive,
  DirectiveDelivered,
  ModelSwitchedEvent,
  ReviewDecided,
  ReviewRequested,
  ReviewTimedOut,
  ReviewWithdrawn,
} from './schemas/events/steering-events.ts'
export { escapeLineBreaks } from './json-line.ts'
export type { DelegationState, FileChangeState } from './run-state/run-state.ts'
export { formatCancelOrigin } from './run-state/format-cancel-origin.ts'
export type { AgentCallState } from './run-state/agent-calls.ts'
export type { DirectiveState } from './run-state/directives.ts'
export {
  findOutputTask,
  type RunGiven,
  type RunMessages,
  toHistoryMessages,
  toUserMessage,
} from './run-state/run-messages.ts'
export type { ReviewState } from './run-state/reviews.ts'
export {
  findTask,
  type EarlierAttempt,
  type TaskError,
  type TaskState,
} from './run-state/task-state.ts'
export type { ToolCallState, TurnFailure, TurnState } from './run-state/turn-state.ts'
export type { AgentUsage, AttemptUsage } from './run-state/usage.ts'
export { isCallOf, toCallId } from './projection/requested-calls.ts'
export type {
  BlockClosed,
  BlockGrown,
  BlocksWithdrawn,
  CallEnded,
  CallRequested,
  ClosedReview,
  OutputBlock,
  RunEnded,
  TaskOperation,
  TaskOutput,
  TurnStarted,
  WaitingReview,
} from './projection/operations.ts'
export { USAGE_EXTENSION } from './usage-extension.ts'
export { addAmounts, MAX_AMOUNT, readCostUsd, readTokenCount } from './amounts.ts'
export {
  addCosts,
  addCounts,
  addReported,
  addTokens,
  addUsageSums,
  NO_USAGE,
  type TokenTotals,
  totalTokens,
  type UsageSum,
} from './usage-sum.ts'
export {
  addEventUsage,
  type EventUsage,
  NO_RUN_USAGE,
  readEventUsage,
  readRunCost,
  type RunUsage,
  USAGE_EVENTS,
} from './run-usage.ts'
export { isTemplateName, TEMPLATE_VARIABLE } from './template-variable.ts'
export {
  AGENT_TASK_FIELDS,
  ClientToolBody,
  ForEachBody,
  HandoffBody,
  HandoffFilterName,
  ItemErrorReaction,
  ItemLimitsBody,
  JudgeTaskBody,
  LoopBody,
  LoopHistoryBody,
  LoopJudgeBody,
  LoopLimitsBody,
  LoopResult,
  TaskAgentBody,
  LoopReviewBody,
  ReduceBody,
  ReduceTaskBody,
  RunBudgetBody,
  RunBudgetGiven,
  RunOptionsBody,
  RunOptionsGiven,
  RunReviewBody,
  MAX_START_DELAY_MS,
  SubmitRunQuery,
  EventToAwaitBody,
  MAX_AWAITED_EVENTS,
  TaskDefinitionBody,
  WaitForBody,
  TaskOverrideBody,
  TaskReviewBody,
  TaskReviewSetting,
} from './schemas/rest/submit-run.ts'
export {
  CreateScheduleBody,
  MAX_JITTER_MS,
  ReplaceScheduleBody,
  ScheduleList,
  ScheduleQuery,
  ScheduleSummary,
} from './schemas/rest/schedules.ts'
export { RunEventsQuery, RunTaskDetail } from './schemas/rest/runs.ts'
export { mapTexts, type RepeatableText } from './repeats/map-texts.ts'
export { TextRestorer } from './repeats/restore-texts.ts'
export { MIN_REPEATED_LENGTH, SentTexts } from './repeats/sent-texts.ts'
export { RepeatedText, RepeatedTexts, StreamedRunEvent } from './schemas/repeats.ts'
export {
  HistoryMessage,
  HistoryToolCall,
  MAX_HISTORY_BYTES,
  MAX_HISTORY_MESSAGES,
} from './schemas/history-message.ts'
export {
  CreateThreadBody,
  ListThreadsQuery,
  ThreadList,
  ThreadRun,
  ThreadRunList,
  ThreadRunsQuery,
} from './schemas/rest/threads.ts'
export { CostEstimate } from './schemas/run-metrics.ts'
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
  ComparedCall,
  ComparedCallPair,
  ComparedInput,
  ComparedRun,
  ComparedTask,
  ComparedTaskSide,
  ComparedText,
  CompareRunsQuery,
  MAX_COMPARED_TASKS,
  RunDifference,
} from './schemas/rest/compare-runs.ts'
export {
  ForkAction,
  ForkCallPreview,
  ForkReviewPreview,
  ForkTaskPreview,
  ForkUsage,
} from './schemas/rest/fork-run.ts'
export {
  CancelCause,
  CancelMode,
  CaptureMode,
  DirectiveAction,
  FinishReason,
  isWaitingRunStatus,
  LifecycleState,
  CALLER_REVIEW_KINDS,
  PERSON_REVIEW_KINDS,
  Priority,
  type ReplayMode,
  RunPriority,
  ReviewDecisionKind,
  ReviewKind,
  ReviewPolicy,
  ReviewTimeoutAction,
  ReviewTiming,
  RunOutcome,
  RunStatusList,
  TERMINAL_RUN_STATUSES,
  ToolOutcome,
  toWaitingStatus,
  UNFINISHED_RUN_STATUS_LIST,
  UNFINISHED_RUN_STATUSES,
  type WaitingRunStatus,
  Workflow,
} from './schemas/enums.ts'
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
export { AuditList, AuditQuery, SocketQuery, Ticket } from './schemas/rest/security.ts'
export { WebhookEventType } from './schemas/rest/webhook.ts'
export { ListReviewsQuery, ReviewDecisionApplied, ReviewList } from './schemas/rest/reviews.ts'
export { InvokeToolBody, ToolInvocation } from './schemas/rest/tools.ts'
export {
  ModelTierInfo,
  PreconfiguredTask,
  ProfileInfo,
  SharedInfo,
} from './schemas/rest/capabilities.ts'
export {
  DrainAccepted,
  Liveness,
  Readiness,
  WorkspaceEntry,
  WorkspaceFileQuery,
  WorkspaceFiles,
  WorkspaceFilesQuery,
} from './schemas/rest/server.ts'
export {
  findExcessProblems,
  MAX_COST_USD,
  MAX_COUNT,
  MAX_DURATION_MS,
  MAX_TIME_MS,
  maximumOf,
} from './limits.ts'
export {
  CLIENT_MESSAGE_TYPES,
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
export { SERVER_MESSAGE_TYPES } from './messages/server-message.ts'
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
export {
  HubEvent,
  HubHello,
  HubMessage,
  ProducerInfo,
  ProducerJoined,
  ProducerLeft,
} from './messages/hub-message.ts'
export { AgentSummary, ExecutionTrace } from './schemas/trace/execution-trace.ts'
export { LlmInteraction, TaskTrace, ToolCallTrace } from './schemas/trace/task-trace.ts'
export { TraceCost, TraceMetrics, TraceTaskMetrics } from './schemas/trace/trace-metrics.ts'
export { DagEdge, DagModel, DagTask } from './schemas/trace/dag-model.ts'
export { ProcessToolRequest, ProcessToolResponse } from './schemas/process-tool.ts'
export { type Check, compileCheck, compiledCheck } from './compiled-check.ts'
export { findCycles } from './check/cycles.ts'
export { isBounded } from './check/cost.ts'
export { CheckLimitError, CheckRun, MAX_CHECK_STEPS } from './check/check-run.ts'
export { createEvaluator, type Evaluator } from './check/evaluator.ts'
export { createLinearPatterns } from './check/linear-pattern.ts'
export { nativePatterns, type Pattern, type PatternEngine } from './check/pattern.ts'
export { discriminatorOf } from './problems/choose-member.ts'
export { pointer, valueAt } from './json-pointer.ts'
export { previewOf, receivedOf } from './problems/preview.ts'
export {
  findBigInt,
  formatExactJson,
  hasBigInt,
  mapBigInts,
  parseExactJson,
  toPlainJson,
  toRawIntegers,
} from './exact-json.ts'
export { BODY_LIMITS, findJsonExcess, type JsonLimits, VALUE_LIMITS } from './json-size.ts'
export {
  markLongIntegers,
  MAX_INTEGER_DIGITS,
  mayHaveLongNumbers,
  unmarkText,
  unmarkValue,
} from './long-numbers.ts'
export { isJsonObject, ownValue, type Schema, type SchemaNode } from './schema-node.ts'
export { ReferenceScope } from './schema-engine.ts'
