/** Port of the connectors that other packages add to `agentTool`. */
import type { AgentConnector } from '@tutti/agent-call/internal'

import type { AgentHttpOptions } from './http/agent-fetch.ts'

/** Address of an agent, and how to connect to it. */
export interface AddressedAgent extends AgentHttpOptions {
  readonly url: string
}

/** Creates connectors to the agents of one protocol. */
export interface ConnectorFactory<Options> {
  (options: Options): AgentConnector
  /** Schemes of the addresses that lead to it, such as `wss`. */
  readonly schemes: readonly string[]
}
