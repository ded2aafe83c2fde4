/** Chooses the connector to an agent by its address. */
import { localConnector, type AgentConnector, type LocalAgent } from '@tutti/agent-call'

import { a2aConnector, MissingCardError } from './a2a/a2a-connector.ts'
import { readAgentUrl, shownUrl } from './http/agent-url.ts'
import { parseMcpAddress } from './mcp/mcp-address.ts'
import { mcpConnector } from './mcp/mcp-connector.ts'
import { peerConnector } from './peer/peer-connector.ts'
import { tasksConnector } from './tasks/tasks-connector.ts'

import type { AgentHttpOptions } from './http/agent-fetch.ts'
import type { McpServer } from '@tutti/mcp'

const WIRES = ['auto', 'a2a', 'tasks'] as const

/** Protocol of an `https:` agent: as its card says, or always one of them. */
export type AgentWire = (typeof WIRES)[number]

/** Agents that addresses may name, and how agents are reached. */
export interface AgentAddressOptions extends AgentHttpOptions {
  /** Agents of this process, by the name in `tutti://name`. @default none */
  readonly agents?: Readonly<Record<string, LocalAgent>>
  /** MCP servers, by the name in `name:tool`. @default none */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  /** Protocol of an `https:` agent. @default auto: as its card says, the `/tasks` wire without one */
  readonly wire?: AgentWire
  /** Address of the card of an `https:` agent, relative to the agent. @default `/.well-known/agent-card.json` */
  readonly cardUrl?: string | URL
}

/**
 * Creates the connector to an agent; nothing is connected to yet.
 *
 * @throws {TypeError} when the address leads to no agent, saying what would be right.
 */
export function connectorOf(
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
      return localConnector(agentNamed(address, options), address)
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
    const shown = shownUrl(readAgentUrl(address, options))
    throw new TypeError(
      `Cannot ask the agent at "${shown}": wire must be one of ${WIRES.join(', ')}, got "${wire}"`,
    )
  }
  if (wire === 'tasks') return tasksConnector({ ...options, url: address })
  const a2a = a2aConnector({ ...options, url: address })
  return wire === 'a2a' ? a2a : connectorByCard(a2a, tasksConnector({ ...options, url: address }))
}

/** Chooses the protocol with each call: A2A if the agent has a card, else the `/tasks` wire. */
export function connectorByCard(a2a: AgentConnector, tasks: AgentConnector): AgentConnector {
  return {
    uri: a2a.uri,
    protocol: a2a.protocol,
    async connect(call) {
      try {
        return await a2a.connect(call)
      } catch (error) {
        // A card that the configuration names must be there.
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

/** Returns the server of an address: one that is not registered gets the headers, or is shared if it has no options. */
function serverFor(
  server: McpServer,
  { mcpServers = {}, headers, allow, resolve }: AgentAddressOptions,
): McpServer {
  if (Object.values(mcpServers).includes(server)) return server
  if (headers !== undefined && 'url' in server) return { ...server, headers }
  return allow === undefined && resolve === undefined ? sameServer(server) : server
}

/** The options that restrict where an address may lead. */
function pick({
  allow,
  resolve,
}: AgentAddressOptions): Pick<AgentHttpOptions, 'allow' | 'resolve'> {
  return {
    ...(allow === undefined ? {} : { allow }),
    ...(resolve === undefined ? {} : { resolve }),
  }
}

/** Servers that addresses have named, so that tools of one server share its connection. */
const namedServers = new Map<string, McpServer>()

function sameServer(server: McpServer): McpServer {
  const key = JSON.stringify('url' in server ? String(server.url) : server)
  const known = namedServers.get(key)
  if (known !== undefined) return known
  namedServers.set(key, server)
  return server
}

function agentNamed(address: string, { agents = {} }: AgentAddressOptions): LocalAgent {
  const [, name = ''] = /^\w+:(?:\/\/)?([^/?#]*)$/.exec(address) ?? []
  const decoded = decodedName(name)
  const agent = Object.hasOwn(agents, decoded) ? agents[decoded] : undefined
  if (agent !== undefined) return agent
  const known = Object.keys(agents)
  const available = known.length === 0 ? 'none is, give them as `agents`' : known.join(', ')
  throw new TypeError(
    `Cannot find the agent ${JSON.stringify(address)}: no agent of this process is registered as "${decoded}". Registered: ${available}`,
  )
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
