/**
 * Calls any agent as a tool. To define: `agentTool`. To extend: the connectors, and the port of
 * `@tutti/agent-call`.
 */

// To define
export { agentTool, type AgentAsTool, type AgentToolOptions } from './agent-tool.ts'
export { createConnector, type AgentAddressOptions, type AgentWire } from './create-connector.ts'
export type { AgentHttpOptions } from './http/agent-fetch.ts'
export type { McpClient, McpEndpoint, McpProgram, McpServer } from '@tutti/mcp'
export {
  defineAgentTool,
  type AgentMode,
  type AgentReply,
  type AnsweredTurn,
  type LocalAgent,
  type LocalAgentRequest,
} from '@tutti/agent-call'

// To extend
export { a2aConnector, type A2aConnectorOptions } from './a2a/a2a-connector.ts'
export { mcpConnector, type McpConnectorOptions } from './mcp/mcp-connector.ts'
export { peerConnector, type PeerConnectorOptions } from './peer/peer-connector.ts'
export { tasksConnector, type TasksConnectorOptions } from './tasks/tasks-connector.ts'
export { AgentError, type AgentConnector, type AgentSession } from '@tutti/agent-call'
