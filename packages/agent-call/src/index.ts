/**
 * Agents as tools, whatever they are spoken to in: the port to an agent, and the tool that asks over it.
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
  defineAgentTool,
  type AgentLimits,
  type AgentReply,
  type AgentToolContext,
  type AgentToolDefinition,
  type AgentToolSettings,
  type AnsweredTurn,
} from './define-agent-tool.ts'
export { sortedJson } from './sorted-json.ts'
