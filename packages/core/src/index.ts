/** Tools for LLM agents: definition (`defineTool`, `defineTextTool`) and execution (`runTool`, `runToolCalls`). */

// To define
export { default as Type, type TObject, type TSchema } from 'typebox'
export type { Static } from '@tutti/protocol'
export {
  defineTextTool,
  defineTool,
  TYPED_TOOL_NAMES,
  type TextToolDefinition,
  type ToolDefinition,
} from './definition/define-tool.ts'
export type { ToolReturn } from './definition/make-tool.ts'
export { createLimiter, type Limiter, type LimiterOptions } from './limiter.ts'
export { toolCatalog, type ToolCatalog } from './tool/tool-catalog.ts'
export type {
  AgentTool,
  CallToolOptions,
  FileChange,
  Remaining,
  ToolContext,
  ToolMeter,
  ToolProgress,
  TypedTool,
} from './tool/tool.ts'
export type { AgentReport, AgentToolEvent, TimedAgentReport } from './tool/agent-report.ts'
export type { OutputCheck } from './definition/tool-output.ts'
export { isToolResult, toModelText, ToolResult } from './tool/tool-result.ts'
export type { SourceOf, StandardToolSchema, ToolSchema, ValueOf } from './tool/tool-schema.ts'
export {
  DEFAULT_TOOL_TIMEOUT_MS,
  TOOL_SETTING_NAMES,
  type ApprovalSettings,
  type ToolSettings,
} from './definition/tool-settings.ts'
export { foreignSchema, type ForeignSchema } from './input/foreign-schema.ts'
export { toStandardSchema, type StandardSchemaOptions } from './input/standard-schema.ts'
export { TextToolInput } from './input/text-reader.ts'

// To run
export {
  DEFAULT_APPROVAL_TIMEOUT_MS,
  type Answer,
  type AnswerOptions,
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalOptions,
  type ApprovalRequest,
  type ApprovalTimeoutAction,
  type Reviewer,
} from './tool/approval.ts'
export { Deadline } from './call/deadline.ts'
export { CANCEL_GRACE_MS, type RunToolOptions } from './call/options.ts'
export { toOutcomeText } from './call/model-text.ts'
export type {
  EditedInput,
  NestedToolCall,
  ToolCall,
  ToolCallEnd,
  ToolCallOutcome,
} from './tool/outcome.ts'
export { runTool } from './call/run-tool.ts'
export { runToolCalls, type RunToolCallsOptions } from './call/run-tool-calls.ts'
export { toolContext } from './call/tool-context-for.ts'
export type { A2aRequest, CallerRequest, McpRequest } from './tool/caller-request.ts'
export type { MessagePart } from '@tutti/protocol'
export {
  createToolMetrics,
  type CountedOutcome,
  type ToolMetrics,
  type ToolMetricsLabels,
  type ToolMetricsSnapshot,
  type ToolMetricsStore,
  type ValueSummary,
} from './metrics.ts'

// To extend
export { findExcessProblems, MAX_COST_USD, MAX_COUNT, MAX_DURATION_MS } from '@tutti/protocol'
export {
  findBigInt,
  findJsonExcess,
  formatExactJson,
  hasBigInt,
  isJsonObject,
  toRawIntegers,
  markLongIntegers,
  mayHaveLongNumbers,
  parseExactJson,
  suggest,
  toPlainJson,
  unmarkText,
  unmarkValue,
  VALUE_LIMITS,
  type Decoded,
  type JsonLimits,
  type Problem,
} from '@tutti/protocol'
export { computeDigest, computeJsonDigest, formatCanonicalJson } from './digest/digest.ts'
export { backoffMs, BoundedMap } from '@tutti/protocol'
export {
  isoNow,
  MAX_TIMER_MS,
  sleep,
  startTimer,
  systemClock,
  toIsoText,
  type Clock,
} from './clock.ts'
export { toJsonForm, type JsonForm } from './json-form.ts'
export { newId } from './new-id.ts'
export {
  COMPLETE_MESSAGE,
  errorMessage,
  MAX_ERROR_MESSAGE_LENGTH,
  TuttiError,
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
  pickOptions,
  type OptionNames,
} from './known-options.ts'
export { silentLogger, type LogFields, type Logger } from './logger.ts'
export {
  childTraceparent,
  isSampled,
  isTraceparent,
  isTracestate,
  newTraceparent,
  runSpanKey,
  spanId,
  spanTraceparent,
  toolCallSpanKey,
  traceContextOf,
  traceIdOf,
  type ToolCallPlace,
  type TraceContext,
} from './trace-context.ts'
