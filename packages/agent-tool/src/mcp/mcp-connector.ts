/**
 * Connects to one tool of one MCP server, as an agent.
 *
 * AGENT-N1 Connectors with the same server object share its connection; it ends when the last of them is closed.
 * AGENT-N2 The SDK, the child process and the connection start at the first call.
 */
import { AgentError, type AgentConnector } from '@tutti/agent-call/internal'
import { findExcessProblems } from '@tutti/core/internal'
import {
  DEFAULT_MAX_MCP_MESSAGE_BYTES,
  DEFAULT_MCP_CONNECT_TIMEOUT_MS,
  McpConnection,
  type McpServer,
  type McpTool,
  resolveMcpServer,
} from '@tutti/mcp/internal'

import { readAgentUrl, formatShownUrl } from '../http/agent-url.ts'
import { toAgentError } from './mcp-failure.ts'
import { McpSession } from './mcp-session.ts'

import type { AgentHttpOptions } from '../http/agent-fetch.ts'

/** The MCP tool to call, and connection settings. `parseMcpAddress` returns the first three. */
export interface McpConnectorOptions extends Omit<AgentHttpOptions, 'headers'> {
  readonly server: McpServer
  /** The server's name of the tool. @default its only tool */
  readonly tool?: string | undefined
  /** Address in events and errors. @default the names of the server and the tool */
  readonly uri?: string
  /** Time until the server is ready, in milliseconds, within the limits of a call. @default 30000 */
  readonly connectTimeoutMs?: number
  /** Maximum bytes of one message of the server. @default 10485760 */
  readonly maxMessageBytes?: number
}

/**
 * Creates a connector to an MCP tool.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function mcpConnector(options: McpConnectorOptions): AgentConnector {
  const { server, tool, connectTimeoutMs = DEFAULT_MCP_CONNECT_TIMEOUT_MS } = options
  const { allow, resolve, maxMessageBytes = DEFAULT_MAX_MCP_MESSAGE_BYTES } = options
  const limits = { connectTimeoutMs, maxMessageBytes }
  assertPositive(limits)
  if ('url' in server) readAgentUrl(server.url, options)
  const resolved = resolveMcpServer(server, {
    ...(allow === undefined ? {} : { allow }),
    ...(resolve === undefined ? {} : { resolve }),
  })
  const { connection, release } = shareConnection(server, () => new McpConnection(resolved, limits))
  return {
    uri: options.uri ?? `mcp:${formatServer(server)}${tool === undefined ? '' : `#${tool}`}`,
    protocol: 'mcp',
    async connect(call) {
      try {
        const found = await findTool(connection, tool, call.signal)
        return new McpSession(connection, found, call)
      } catch (error) {
        throw toAgentError(error)
      }
    },
    close: release,
  }
}

function formatServer(server: McpServer): string {
  if ('client' in server) return 'of its client'
  return 'url' in server ? formatShownUrl(new URL(server.url)) : server.command
}

/** @throws {AgentError} when the server does not have the tool, or the tool cannot be called. */
async function findTool(
  connection: McpConnection,
  name: string | undefined,
  signal: AbortSignal,
): Promise<McpTool> {
  const known = selectTool((await connection.listTools({ signal })).tools, name)
  if (known !== undefined) return assertCallable(known, connection.name)
  // The server's tools may have changed; not every server reports that.
  const { tools, skipped } = await connection.listTools({ signal, refresh: true })
  const found = selectTool(tools, name)
  if (found !== undefined) return assertCallable(found, connection.name)
  const unusable = skipped.find((tool) => tool.name === name)
  if (unusable !== undefined) {
    throw createToolFailure(
      `MCP tool "${name}" of server ${connection.name} cannot be used: ${unusable.reason}`,
    )
  }
  const names = tools.map((tool) => tool.name)
  const has = names.length === 0 ? 'none' : names.join(', ')
  throw createToolFailure(
    name === undefined
      ? `Cannot choose a tool of MCP server ${connection.name}: its address must end in #tool, because it does not have exactly one; it has ${has}`
      : `MCP server ${connection.name} has no tool "${name}"; it has ${has}`,
  )
}

function selectTool(tools: readonly McpTool[], name: string | undefined): McpTool | undefined {
  if (name !== undefined) return tools.find((tool) => tool.name === name)
  return tools.length === 1 ? tools[0] : undefined
}

function assertCallable(tool: McpTool, server: string): McpTool {
  if (tool.execution?.taskSupport !== 'required') return tool
  throw createToolFailure(
    `MCP tool "${tool.name}" of server ${server} can only be called as a task (taskSupport: required), which is not supported`,
  )
}

function createToolFailure(message: string): AgentError {
  return new AgentError(message, { failureType: 'configuration', retryable: false })
}

interface Shared {
  readonly connection: McpConnection
  owners: number
}

const connections = new WeakMap<McpServer, Shared>()

/** Returns the connection of a server, and a function that releases it for one of its owners. */
function shareConnection(
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

function assertPositive(limits: Readonly<Record<string, number>>): void {
  const tooSmall = Object.entries(limits).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'number' && value > 0
      ? []
      : [`${name} must be > 0, got ${JSON.stringify(value)}`],
  )
  const problems = [...tooSmall, ...findExcessProblems(limits)]
  if (problems.length > 0) throw new TypeError(`Cannot use MCP server: ${problems.join('; ')}`)
}
