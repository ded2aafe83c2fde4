/**
 * Calls to agents of any protocol: the port to an agent, and the tool that calls it.
 * `@tutti/agent-tool` has the connectors.
 */
export type {
  AgentAnswer,
  AgentCall,
  AgentConnector,
  AgentMode,
  AgentProtocol,
  AgentSession,
  AgentTurn,
  AgentUpdate,
  AgentUsageReport,
} from './agent-connector.ts'
export { AgentError, type AgentErrorOptions, type AgentFailureType } from './agent-error.ts'
export { localConnector, type LocalAgent, type LocalAgentRequest } from './local-agent.ts'
export {
  AGENT_TOOL_NAMES,
  DEFAULT_AGENT_TIMEOUT_MS,
  DEFAULT_IDLE_TIMEOUT_MS,
  DEFAULT_MAX_TURNS,
  type AgentLimits,
  type AgentReply,
  type AgentToolContext,
  type AgentToolDefinition,
  type AgentToolSettings,
  type AnsweredTurn,
} from './agent-tool-settings.ts'
export { defineAgentTool } from './define-agent-tool.ts'
export { sortedJson } from './json-text.ts'
