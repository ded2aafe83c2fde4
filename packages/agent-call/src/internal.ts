/**
 * Calls to agents of any protocol: the port to an agent, and the tool that calls it. `@tutti/agent-tool` has the connectors.
 *
 * For the other packages of Tutti only: its names may change in every version.
 */
export type {
  AgentAnswer,
  AgentCall,
  AgentConnector,
  AgentMode,
  AgentSession,
  AgentTurn,
  AgentUpdate,
  AgentUsageReport,
} from './agent-connector.ts'
export { AgentError, type AgentErrorOptions, type AgentFailureType } from './agent-error.ts'
export { type LocalAgent, type LocalAgentRequest, localConnector } from './local-agent.ts'
export {
  AGENT_TOOL_NAMES,
  type AgentReply,
  type AgentToolDefinition,
  type AgentToolSettings,
  type AnsweredTurn,
} from './agent-tool-settings.ts'
export { defineAgentTool } from './define-agent-tool.ts'
export { sortedJson } from './json-text.ts'
