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
export type { AddressedAgent, ConnectorFactory } from './connector-factory.ts'
export { toAnswerSchema } from './answer-schema.ts'
export { createAgentFetch } from './http/agent-fetch.ts'
export { appendPath, formatShownUrl, isExposed, readAgentUrl } from './http/agent-url.ts'
export { assertAnswerSize } from './http/answer-size.ts'
export { toStatusFailure } from './http/http-error.ts'
export { toHttpFailure } from './http/http-failure.ts'
export { ownHeaders } from './http/own-headers.ts'
export { toLimitsMetadata } from './usage-metadata.ts'
export { a2aConnector, type A2aConnectorOptions } from './a2a/a2a-connector.ts'
export { mcpConnector, type McpConnectorOptions } from './mcp/mcp-connector.ts'
export { AgentError, type AgentConnector, type AgentSession } from '@tutti/agent-call'
