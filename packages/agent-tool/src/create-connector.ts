/** Chooses the connector to an agent by its address. */
import { localConnector, type AgentConnector, type LocalAgent } from '@tutti/agent-call'

import { a2aConnector, MissingCardError } from './a2a/a2a-connector.ts'
import { readAgentUrl, formatShownUrl } from './http/agent-url.ts'
import { parseMcpAddress } from './mcp/mcp-address.ts'
import { mcpConnector } from './mcp/mcp-connector.ts'
import { peerConnector } from './peer/peer-connector.ts'
import { tasksConnector } from './tasks/tasks-connector.ts'

import type { AgentHttpOptions } from './http/agent-fetch.ts'
import type { McpServer } from '@tutti/mcp'

const WIRES = ['auto', 'a2a', 'tasks'] as const

/** Protocol of an `https:` agent: according to its card, or fixed. */
export type AgentWire = (typeof WIRES)[number]

/** Agents that addresses can name, and connection settings. */
export interface AgentAddressOptions extends AgentHttpOptions {
  /** Agents of this process, by the name in `tutti://name`. @default none */
  readonly agents?: Readonly<Record<string, LocalAgent>>
  /** MCP servers, by the name in `name:tool`. @default none */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  /** Protocol of an `https:` agent. @default auto: A2A if it has a card, else the `/tasks` wire */
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
    case 'ws':
    case 'wss':
      return peerConnector({ ...options, url: address })
    default:
      return mcp(address, options)
  }
}

function overHttp(address: string, options: AgentAddressOptions): AgentConnector {
  const { wire = 'auto' } = options
  if (!WIRES.includes(wire)) {
    const shown = formatShownUrl(readAgentUrl(address, options))
    throw new TypeError(
      `Cannot ask the agent at "${shown}": wire must be one of ${WIRES.join(', ')}, got "${wire}"`,
    )
  }
  if (wire === 'tasks') return tasksConnector({ ...options, url: address })
  const a2a = a2aConnector({ ...options, url: address })
  return wire === 'a2a'
    ? a2a
    : createConnectorByCard(a2a, tasksConnector({ ...options, url: address }))
}

/** Chooses the protocol with each call: A2A if the agent has a card, else the `/tasks` wire. */
export function createConnectorByCard(a2a: AgentConnector, tasks: AgentConnector): AgentConnector {
  return {
    uri: a2a.uri,
    protocol: a2a.protocol,
    async connect(call) {
      try {
        return await a2a.connect(call)
      } catch (error) {
        // If the configuration names a card, it must exist.
        if (!(error instanceof MissingCardError) || error.isNamed) throw error
        return tasks.connect(call)
      }
    },
    async close() {
      await Promise.all([a2a.close?.(), tasks.close?.()])
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
