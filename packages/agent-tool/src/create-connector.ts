/** Chooses the connector to an agent by its address. */
import { localConnector, type AgentConnector, type LocalAgent } from '@tutti/agent-call/internal'

import { a2aConnector, MissingCardError } from './a2a/a2a-connector.ts'
import { readAgentUrl, formatShownUrl } from './http/agent-url.ts'
import { parseMcpAddress } from './mcp/mcp-address.ts'
import { mcpConnector } from './mcp/mcp-connector.ts'

import type { ConnectorFactory, AddressedAgent } from './connector-factory.ts'
import type { AgentHttpOptions } from './http/agent-fetch.ts'
import type { McpServer } from '@tutti/mcp/internal'

/** Advice for agents on the `/tasks` wire. */
const ADD_TASKS = 'add tasksConnector of @tutti/compat-jamjet/connector to connectors'

const WIRES = ['auto', 'a2a', 'tasks'] as const

/** Protocol of an `https:` agent: according to its card, or fixed. */
export type AgentWire = (typeof WIRES)[number]

/** Agents that addresses can name, and connection settings. */
export interface AgentAddressOptions extends AgentHttpOptions {
  /** Agents of this process, by the name in `tutti://name`. @default none */
  readonly agents?: Readonly<Record<string, LocalAgent>>
  /** MCP servers, by the name in `name:tool`. @default none */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  /**
   * Connectors of further protocols, such as `tasksConnector` of `@tutti/compat-jamjet/connector`. An address leads to
   * the first one that has its scheme; `https:` agents with an A2A card are reached over A2A. @default none
   */
  readonly connectors?: readonly ConnectorFactory<AddressedAgent>[]
  /**
   * Protocol of an `https:` agent. `tasks` needs a connector of `connectors`. @default auto: A2A if it has a card or
   * `connectors` has none for `https:`, else that connector
   */
  readonly wire?: AgentWire
  /** Address of the card of an `https:` agent, relative to the agent. @default `/.well-known/agent-card.json` */
  readonly cardUrl?: string | URL
}

/**
 * Creates the connector to an agent; it connects at the first call.
 *
 * @throws {TypeError} when the address does not lead to an agent, with the valid forms.
 */
export function createConnector(
  agent: string | URL,
  options: AgentAddressOptions = {},
): AgentConnector {
  const address = String(agent)
  const scheme = /^([^:/?#]+):/.exec(address)?.[1]?.toLowerCase() ?? ''
  switch (scheme) {
    case 'http':
    case 'https':
      return overHttp(address, options)
    case 'tutti':
    case 'jamjet':
      return localConnector(findAgent(address, options), address)
    default:
      return overOther(scheme, address, options)
  }
}

/** Connects over the connector that an option provides for the scheme, else over MCP. */
function overOther(scheme: string, address: string, options: AgentAddressOptions): AgentConnector {
  const other = findFactory(scheme, options)
  if (other !== undefined) return other({ ...options, url: address })
  if (scheme === 'ws' || scheme === 'wss') {
    const url = URL.parse(address)
    const shown = url === null ? `${scheme}:` : formatShownUrl(url)
    throw new TypeError(
      `Cannot ask the agent at "${shown}": ${scheme}: needs a connector; add peerConnector of @tutti/compat-agentensemble/connector to connectors`,
    )
  }
  return mcp(address, options)
}

function overHttp(address: string, options: AgentAddressOptions): AgentConnector {
  const { wire = 'auto' } = options
  const url = readAgentUrl(address, options)
  const start = `Cannot ask the agent at "${formatShownUrl(url)}": `
  if (!WIRES.includes(wire)) {
    throw new TypeError(`${start}wire must be one of ${WIRES.join(', ')}, got "${wire}"`)
  }
  const addressed = { ...options, url: address }
  if (wire === 'a2a') return a2aConnector(addressed)
  const other = findFactory(url.protocol.slice(0, -1), options)?.(addressed)
  if (wire === 'auto') return createConnectorByCard(a2aConnector(addressed), other)
  if (other !== undefined) return other
  throw new TypeError(`${start}wire "tasks" needs a connector; ${ADD_TASKS}`)
}

/** Returns the connector that an option provides for a scheme. */
function findFactory(
  scheme: string,
  { connectors = [] }: AgentAddressOptions,
): ConnectorFactory<AddressedAgent> | undefined {
  return connectors.find(({ schemes }) => schemes.includes(scheme))
}

/** Chooses the protocol with each call: A2A if the agent has a card, else the other one, if there is one. */
export function createConnectorByCard(
  a2a: AgentConnector,
  other: AgentConnector | undefined,
): AgentConnector {
  return {
    uri: a2a.uri,
    protocol: a2a.protocol,
    async connect(call) {
      try {
        return await a2a.connect(call)
      } catch (error) {
        // If the configuration names a card, it must exist.
        if (!(error instanceof MissingCardError) || error.isNamed) throw error
        if (other !== undefined) return other.connect(call)
        const advice = `an agent without a card needs a connector; ${ADD_TASKS}`
        throw new MissingCardError(`${error.message}; ${advice}`, false)
      }
    },
    async close() {
      await Promise.all([a2a.close?.(), other?.close?.()])
    },
  }
}

function mcp(address: string, options: AgentAddressOptions): AgentConnector {
  const { mcpServers: servers, allowHttp } = options
  const insecure = allowHttp === undefined ? {} : { allowHttp }
  const parsed = parseMcpAddress(address, {
    ...insecure,
    ...(servers === undefined ? {} : { servers }),
  })
  const { server, tool, uri } = parsed
  return mcpConnector({
    ...pick(options),
    ...insecure,
    server: serverFor(server, options),
    tool,
    uri,
  })
}

/**
 * Returns the server of an address. A server that is not registered gets the headers; without options it is
 * shared.
 */
function serverFor(
  server: McpServer,
  { mcpServers = {}, headers, allow, resolve }: AgentAddressOptions,
): McpServer {
  if (Object.values(mcpServers).includes(server)) return server
  if (headers !== undefined && 'url' in server) return { ...server, headers }
  return allow === undefined && resolve === undefined ? sameServer(server) : server
}

/** Options that restrict the targets of an address. */
function pick({
  allow,
  resolve,
}: AgentAddressOptions): Pick<AgentHttpOptions, 'allow' | 'resolve'> {
  return {
    ...(allow === undefined ? {} : { allow }),
    ...(resolve === undefined ? {} : { resolve }),
  }
}

/** Servers named by addresses, so that tools of one server share its connection. */
const namedServers = new Map<string, McpServer>()

function sameServer(server: McpServer): McpServer {
  const key = JSON.stringify('url' in server ? String(server.url) : server)
  const known = namedServers.get(key)
  if (known !== undefined) return known
  namedServers.set(key, server)
  return server
}

function findAgent(address: string, { agents = {} }: AgentAddressOptions): LocalAgent {
  const [, name = ''] = /^\w+:(?:\/\/)?([^/?#]*)$/.exec(address) ?? []
  const decoded = decodeName(name)
  const agent = Object.hasOwn(agents, decoded) ? agents[decoded] : undefined
  if (agent !== undefined) return agent
  const known = Object.keys(agents)
  const available = known.length === 0 ? 'none; pass them as `agents`' : known.join(', ')
  throw new TypeError(
    `Cannot find the agent ${JSON.stringify(address)}: no agent of this process is registered as "${decoded}". Registered: ${available}`,
  )
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
