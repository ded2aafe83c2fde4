/**
 * MCP tools as agents: the way to one tool of one server.
 *
 * N1 Connectors that were given the same server, as one object, share its connection; it ends when the last of
 *    them is closed.
 * N2 Nothing is loaded, started or connected to before the first call.
 */
import { McpConnection, type McpConnectionOptions } from './mcp-connection.ts'
import { resolveMcpServer, type McpServer } from './mcp-server.ts'
import { McpSession } from './mcp-session.ts'

import type { AgentConnector } from '@tutti/agent-call'
import type { AgentHttpOptions } from '../http/agent-fetch.ts'

/** Which MCP tool is asked, and how it is reached. `parseMcpAddress` gives the first three. */
export interface McpConnectorOptions extends Omit<AgentHttpOptions, 'headers'> {
  readonly server: McpServer
  /** The server's own name of the tool. @default its only one */
  readonly tool?: string | undefined
  /** The address as events and errors show it. @default made of the server's name and the tool's */
  readonly uri?: string
  /** Time until the server is there, in milliseconds; the limits of a call count besides. @default 30000 */
  readonly connectTimeoutMs?: number
  /** Bytes of one message of the server, at most. @default 10485760 */
  readonly maxMessageBytes?: number
}

/** Enough for a server that is fetched and compiled as it starts. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000

/** That of the protocol's own library for programs. */
export const DEFAULT_MAX_MESSAGE_BYTES = 10_485_760

/**
 * Makes the way to an MCP tool.
 *
 * @throws {TypeError} for a server that is not described rightly.
 */
export function mcpConnector(options: McpConnectorOptions): AgentConnector {
  const { server, tool, connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = options
  const { allowHttp, allow, resolve, maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = options
  assertPositive({ connectTimeoutMs, maxMessageBytes })
  const resolved = resolveMcpServer(server, {
    ...(allowHttp === undefined ? {} : { allowHttp }),
    ...(allow === undefined ? {} : { allow }),
    ...(resolve === undefined ? {} : { resolve }),
  })
  const limits = { connectTimeoutMs, maxMessageBytes }
  const { connection, release } = shared(server, () => new McpConnection(resolved, limits))
  return {
    uri: options.uri ?? `mcp:${resolved.name}${tool === undefined ? '' : `#${tool}`}`,
    protocol: 'mcp',
    async connect(call) {
      return new McpSession({ connection, tool: await connection.tool(tool, call.signal) }, call)
    },
    close: release,
  }
}

interface Shared {
  readonly connection: McpConnection
  owners: number
}

const connections = new WeakMap<McpServer, Shared>()

/** The connection of a server, with what ends it for one of its owners. */
function shared(
  server: McpServer,
  open: () => McpConnection,
): { readonly connection: McpConnection; release(): Promise<void> } {
  const one = connections.get(server) ?? { connection: open(), owners: 0 }
  connections.set(server, one)
  one.owners += 1
  let isReleased = false
  return {
    connection: one.connection,
    async release() {
      if (isReleased) return
      isReleased = true
      one.owners -= 1
      if (one.owners > 0) return
      connections.delete(server)
      await one.connection.close()
    },
  }
}

function assertPositive(limits: McpConnectionOptions): void {
  const problems = Object.entries(limits).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'number' && value > 0
      ? []
      : [`${name} must be > 0, got ${JSON.stringify(value)}`],
  )
  if (problems.length > 0) throw new TypeError(`Cannot use MCP server: ${problems.join('; ')}`)
}
