/**
 * Calls any agent as a tool. To define: `agentTool`. To extend: the connectors, and the port of
 * `@tutti/agent-call`.
 */

// To define
export { agentTool, type AgentAsTool, type AgentToolOptions } from './agent-tool.ts'
export type { AgentReply, LocalAgent, LocalAgentRequest } from '@tutti/agent-call/internal'

// To extend
export { a2aConnector, type A2aConnectorOptions } from './a2a/a2a-connector.ts'
export { mcpConnector, type McpConnectorOptions } from './mcp/mcp-connector.ts'
export { AgentError } from '@tutti/agent-call/internal'
