/**
 * Tools outside this process. Programs: `processTool`. HTTP services: `httpTool`, `openApiTools`. MCP servers:
 * `mcpTools`.
 */

// Programs
export { processTool, type ProcessTool } from './process/process-tool.ts'

// HTTP services
export { httpGetTool, httpPostTool, httpTool, type HttpTool } from './http/http-tool.ts'
export type { HttpOptions } from './http/options.ts'
export { openApiTools, type OpenApiTools } from './openapi/open-api-tools.ts'
export type { OpenApiToolsOptions } from './openapi/options.ts'

// MCP servers
export { mcpTools, type McpTools } from './mcp/mcp-tools.ts'
export type { McpToolsOptions } from './mcp/options.ts'

// Network
export { networkGuard, type NetworkGuard } from '@tutti/net/internal'
