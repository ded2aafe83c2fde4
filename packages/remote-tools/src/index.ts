/**
 * Tools outside this process. Programs: `processTool`. HTTP services: `httpTool`, `openApiTools`. MCP servers:
 * `mcpTools`.
 */

// Programs
export type { ProgramOptions } from './process/options.ts'
export {
  processTool,
  type ProcessTool,
  type TextProcessToolOptions,
  type TypedProcessToolOptions,
} from './process/process-tool.ts'
export type { WorkerOptions } from './process/worker-options.ts'

// HTTP services
export {
  httpGetTool,
  httpPostTool,
  httpTool,
  type HttpTool,
  type TextHttpToolOptions,
  type TypedHttpToolOptions,
} from './http/http-tool.ts'
export type { HeaderRecord, HeaderSource, HttpOptions } from './http/options.ts'
export type { RequestParts } from './http/request-parts.ts'
export type { RetryOptions, RetryReason } from './http/retries.ts'
export type { HttpResponseFacts } from './http/to-result.ts'
export { openApiTools, type OpenApiTools, type SkippedOperation } from './openapi/open-api-tools.ts'
export type { OpenApiChoice, OpenApiOperation, OpenApiToolsOptions } from './openapi/options.ts'
export type { OpenApiAuth, OpenApiSecret } from './openapi/security.ts'

// MCP servers
export { mcpTools, type McpTools, type SkippedMcpTool } from './mcp/mcp-tools.ts'
export type { McpToolFacts, McpToolsOptions } from './mcp/options.ts'
export type { McpClient, McpEndpoint, McpHeaders, McpProgram, McpServer } from '@tutti/mcp'
