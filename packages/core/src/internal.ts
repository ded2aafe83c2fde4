/** For the other packages of Tutti only: its names may change in every version. */
export type { TObject } from 'typebox'
export { TYPED_TOOL_NAMES } from './definition/define-tool.ts'
export type { CallToolOptions, FileChange, Remaining, ToolProgress } from './tool/tool.ts'
export type { AgentReport, AgentToolEvent, TimedAgentReport } from './tool/agent-report.ts'
export type { OutputCheck } from './definition/tool-output.ts'
export { isToolResult } from './tool/tool-result.ts'
export type { SourceOf, StandardToolSchema, ToolSchema, ValueOf } from './tool/tool-schema.ts'
export { DEFAULT_TOOL_TIMEOUT_MS, TOOL_SETTING_NAMES } from './definition/tool-settings.ts'
export { foreignSchema, type ForeignSchema } from './input/foreign-schema.ts'
export { TextToolInput } from './input/text-reader.ts'
export type {
  Answer,
  AnswerOptions,
  ApprovalAnswer,
  ApprovalTimeoutAction,
} from './tool/approval.ts'
export { Deadline } from './call/deadline.ts'
export { CANCEL_GRACE_MS } from './call/options.ts'
export { toOutcomeText } from './call/model-text.ts'
export type { EditedInput, NestedToolCall } from './tool/outcome.ts'
export type { A2aRequest, CallerRequest, McpRequest } from './tool/caller-request.ts'
export {
  backoffMs,
  BoundedMap,
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
export { computeDigest, computeJsonDigest, formatCanonicalJson } from './digest/digest.ts'
export { BusyLoop } from './busy-loop.ts'
export { isoNow, MAX_TIMER_MS, sleep, startTimer, toIsoText } from './clock.ts'
export { toJsonForm } from './json-form.ts'
export { newId } from './new-id.ts'
export { COMPLETE_MESSAGE, errorMessage } from './errors.ts'
export { schemaReader, type SchemaReader } from './input/schema-reader.ts'
export { reportPartialOutput } from './call/partial-output.ts'
export { findContradictions } from './input/contradictions.ts'
export { findSchemaFaults } from './input/schema-faults.ts'
export { problemList } from './input-failure.ts'
export { isLoopback } from './loopback.ts'
export { cachePerObject } from './cache-per-object.ts'
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
  isSampled,
  isTraceparent,
  newTraceparent,
  runSpanKey,
  spanId,
  spanTraceparent,
  toolCallSpanKey,
  type TraceContext,
  traceContextOf,
  traceIdOf,
} from './trace-context.ts'
