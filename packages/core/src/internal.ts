/** For the other packages of Tutti only: its names may change in every version. */
export type { TObject } from 'typebox'
export { TYPED_TOOL_NAMES } from './definition/define-tool.ts'
export type { LimiterOptions } from './limiter.ts'
export type {
  CallToolOptions,
  FileChange,
  Remaining,
  ToolMeter,
  ToolProgress,
} from './tool/tool.ts'
export type { AgentReport, AgentToolEvent, TimedAgentReport } from './tool/agent-report.ts'
export type { OutputCheck } from './definition/tool-output.ts'
export { isToolResult } from './tool/tool-result.ts'
export type { SourceOf, StandardToolSchema, ToolSchema, ValueOf } from './tool/tool-schema.ts'
export {
  type ApprovalSettings,
  DEFAULT_TOOL_TIMEOUT_MS,
  TOOL_SETTING_NAMES,
} from './definition/tool-settings.ts'
export { foreignSchema, type ForeignSchema } from './input/foreign-schema.ts'
export type { StandardSchemaOptions } from './input/standard-schema.ts'
export { TextToolInput } from './input/text-reader.ts'
export {
  type Answer,
  type AnswerOptions,
  type ApprovalAnswer,
  type ApprovalOptions,
  type ApprovalTimeoutAction,
  DEFAULT_APPROVAL_TIMEOUT_MS,
} from './tool/approval.ts'
export { Deadline } from './call/deadline.ts'
export { CANCEL_GRACE_MS } from './call/options.ts'
export { toOutcomeText } from './call/model-text.ts'
export type { EditedInput, NestedToolCall, ToolCallEnd } from './tool/outcome.ts'
export type { A2aRequest, CallerRequest, McpRequest } from './tool/caller-request.ts'
export {
  backoffMs,
  BoundedMap,
  type Decoded,
  findBigInt,
  findExcessProblems,
  findJsonExcess,
  formatExactJson,
  hasBigInt,
  isJsonObject,
  type JsonLimits,
  markLongIntegers,
  MAX_COST_USD,
  MAX_COUNT,
  MAX_DURATION_MS,
  mayHaveLongNumbers,
  type MessagePart,
  parseExactJson,
  type Problem,
  suggest,
  toPlainJson,
  toRawIntegers,
  unmarkText,
  unmarkValue,
  VALUE_LIMITS,
} from '@tutti/protocol/internal'
export type {
  CountedOutcome,
  ToolMetricsLabels,
  ToolMetricsSnapshot,
  ToolMetricsStore,
  ValueSummary,
} from './metrics.ts'
export { computeDigest, computeJsonDigest, formatCanonicalJson } from './digest/digest.ts'
export { isoNow, MAX_TIMER_MS, sleep, startTimer, toIsoText } from './clock.ts'
export { type JsonForm, toJsonForm } from './json-form.ts'
export { newId } from './new-id.ts'
export {
  COMPLETE_MESSAGE,
  errorMessage,
  MAX_ERROR_MESSAGE_LENGTH,
  type TuttiErrorOptions,
} from './errors.ts'
export { schemaReader, type SchemaReader } from './input/schema-reader.ts'
export { reportPartialOutput } from './call/partial-output.ts'
export { findContradictions } from './input/contradictions.ts'
export { findSchemaFaults } from './input/schema-faults.ts'
export { problemList } from './input-failure.ts'
export { isLoopback } from './loopback.ts'
export { limitText, startOfInput } from './limit-text.ts'
export {
  assertKnownOptions,
  definitionError,
  findChoiceProblems,
  findOptionProblems,
  type OptionNames,
  pickOptions,
} from './known-options.ts'
export { type LogFields, silentLogger } from './logger.ts'
export {
  childTraceparent,
  isSampled,
  isTraceparent,
  isTracestate,
  newTraceparent,
  runSpanKey,
  spanId,
  spanTraceparent,
  type ToolCallPlace,
  toolCallSpanKey,
  type TraceContext,
  traceContextOf,
  traceIdOf,
} from './trace-context.ts'
