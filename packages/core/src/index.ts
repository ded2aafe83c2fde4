/** Tools for LLM agents. To define: `defineTool`, `defineTextTool`. To run: `runTool`, `runToolCalls`. */

// To define
export { default as Type, type Static, type TObject, type TSchema } from 'typebox'
export {
  defineTextTool,
  defineTool,
  DEFAULT_TOOL_TIMEOUT_MS,
  TextToolInput,
  type TextToolDefinition,
  type ToolDefinition,
  type ToolReturn,
  type TypedTool,
} from './define-tool.ts'
export { toolCatalog, type ToolCatalog } from './tool-catalog.ts'
export { isToolResult, toModelText, ToolResult } from './tool-result.ts'
export type { AgentTool, ToolContext } from './tool.ts'

// To run
export { runToolCalls, type RunToolCallsOptions } from './run-tool-calls.ts'
export {
  CANCEL_GRACE_MS,
  runTool,
  type RunToolOptions,
  type ToolCall,
  type ToolCallEnd,
  type ToolCallOutcome,
} from './run-tool.ts'

// To extend
export { isoNow, sleep, systemClock, type Clock } from './clock.ts'
export { errorMessage, TuttiError, type TuttiErrorOptions } from './errors.ts'
export { silentLogger, type LogFields, type Logger } from './logger.ts'
