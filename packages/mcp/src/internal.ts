/**
 * The MCP client of tools and agents: `resolveMcpServer` checks the options of a server, `McpConnection` connects to it, and
 * `McpToolCall` calls one of its tools.
 *
 * For the other packages of Tutti only: its names may change in every version.
 */
export type {
  CallToolResult as McpToolResult,
  Progress as McpProgress,
  Tool as McpTool,
} from '@modelcontextprotocol/client'
export { acceptForm, askReviewer } from './ask-reviewer.ts'
export {
  DEFAULT_MAX_MCP_MESSAGE_BYTES,
  DEFAULT_MCP_CONNECT_TIMEOUT_MS,
  McpConnection,
} from './mcp-connection.ts'
export { McpError } from './mcp-error.ts'
export {
  type McpClient,
  type McpEndpoint,
  type McpHeaders,
  type McpProgram,
  type McpServer,
  resolveMcpServer,
} from './mcp-server.ts'
export type { McpForm, McpFormAnswer } from './open-calls.ts'
export { McpToolCall } from './tool-call.ts'
export { contentText } from './tool-content.ts'
export type { McpToolList } from './tool-list.ts'
