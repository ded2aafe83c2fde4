/** The way to an agent, by its address. */
import { localConnector, type AgentConnector, type LocalAgent } from '@tutti/agent-call'

import { a2aConnector, type AgentWire } from './a2a/a2a-connector.ts'
import { parseMcpAddress } from './mcp/mcp-address.ts'
import { mcpConnector } from './mcp/mcp-connector.ts'
import { peerConnector } from './peer/peer-connector.ts'
import { tasksConnector } from './tasks/tasks-connector.ts'

import type { AgentHttpOptions } from './http/agent-fetch.ts'
import type { McpServer } from '@tutti/net'

/** What addresses may mean, and how they are reached. */
export interface AgentAddressOptions extends AgentHttpOptions {
  /** Agents of this process, by the name in `tutti://name`. @default none */
  readonly agents?: Readonly<Record<string, LocalAgent>>
  /** MCP servers, by the name in `name:tool`. @default none */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  /** What an `https:` agent is spoken to in. @default auto: as its card says, the `/tasks` wire without one */
  readonly wire?: AgentWire
  /** Where the card of an `https:` agent is, relative to it. @default `/.well-known/agent-card.json` */
  readonly cardUrl?: string | URL
}

/**
 * Makes the way to an agent; nothing is connected to.
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
      return a2aConnector({
        ...options,
        url: address,
        tasks: tasksConnector({ ...options, url: address }),
      })
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

/** A registered server as it is; one that an address names with the headers for it, else shared where nothing is set. */
function serverFor(
  server: McpServer,
  { mcpServers = {}, headers, allow, resolve }: AgentAddressOptions,
): McpServer {
  if (Object.values(mcpServers).includes(server)) return server
  if (headers !== undefined && 'url' in server) return { ...server, headers }
  return allow === undefined && resolve === undefined ? sameServer(server) : server
}

/** The options that say where an address may lead. */
function pick({
  allow,
  resolve,
}: AgentAddressOptions): Pick<AgentHttpOptions, 'allow' | 'resolve'> {
  return {
    ...(allow === undefined ? {} : { allow }),
    ...(resolve === undefined ? {} : { resolve }),
  }
}

/** Servers that addresses have named, by what they are: tools of one server share its connection. */
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
