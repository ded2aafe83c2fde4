/** The port to agents of other protocols. */
export {
  type AgentAnswer,
  type AgentCall,
  type AgentConnector,
  type AgentSession,
  type AgentTurn,
  type AgentUpdate,
  defineAgentTool,
} from '@tutti/agent-call/internal'
export type { AddressedAgent, ConnectorFactory } from './connector-factory.ts'
