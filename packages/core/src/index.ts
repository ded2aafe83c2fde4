/** Tools for LLM agents: definition (`defineTool`, `defineTextTool`) and execution (`runTool`, `runToolCalls`). */

// To define
export { default as Type, type TSchema } from 'typebox'
export type { Static } from '@tutti/protocol/internal'
export {
  defineTextTool,
  defineTool,
  type TextToolDefinition,
  type ToolDefinition,
} from './definition/define-tool.ts'
export type { ToolReturn } from './definition/make-tool.ts'
export { createLimiter, type Limiter } from './limiter.ts'
export { toolCatalog, type ToolCatalog } from './tool/tool-catalog.ts'
export type { AgentTool, ToolContext, TypedTool } from './tool/tool.ts'
export { toModelText, ToolResult } from './tool/tool-result.ts'
export type { ToolSettings } from './definition/tool-settings.ts'
export { toStandardSchema } from './input/standard-schema.ts'

// To run
export type { ApprovalDecision, ApprovalRequest, Reviewer } from './tool/approval.ts'
export type { RunToolOptions } from './call/options.ts'
export type { ToolCall, ToolCallOutcome } from './tool/outcome.ts'
export { runTool } from './call/run-tool.ts'
export { runToolCalls, type RunToolCallsOptions } from './call/run-tool-calls.ts'
export { toolContext } from './call/tool-context-for.ts'
export { createToolMetrics, type ToolMetrics } from './metrics.ts'

// To extend
export { type Clock, systemClock } from './clock.ts'
export { TuttiError } from './errors.ts'
export type { Logger } from './logger.ts'
