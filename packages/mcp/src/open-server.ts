/** Opens connections to MCP servers. The first connection loads the SDK. */
import { EndpointLink } from './endpoint-link.ts'
import { IncomingMessages } from './incoming/incoming-messages.ts'
import { handleInOrder } from './message-order.ts'
import { OpenCalls } from './open-calls.ts'

import type { Client, Transport, VersionNegotiationMode } from '@modelcontextprotocol/client'
import type { ResolvedProcessOptions } from '@tutti/net/internal'
import type { ProcessFate } from './mcp-error.ts'
import type { McpEndpoint, ResolvedMcpEndpoint, ResolvedMcpServer } from './mcp-server.ts'
import type { McpToolList } from './tool-list.ts'

/** An open connection. */
export interface OpenMcpServer {
  readonly client: Client
  readonly calls: OpenCalls
  /** Whether the calls answer questions in results; otherwise the client answers them. */
  readonly callsAnswer: boolean
  /** The cached tools of the server; undefined when they may have changed. */
  tools: Promise<McpToolList> | undefined
  /** Returns the end of the server's process; undefined while it runs and for other servers. */
  readonly fate: () => ProcessFate | undefined
  /** Prepares a call by opening the stream for messages that belong to no request. */
  readonly listen: () => Promise<void>
  /** Returns whether the connection has a session, which the server can lose. */
  readonly hasSession: () => boolean
  /** Closes the connection. Never rejects. */
  readonly close: () => Promise<void>
}

export interface McpOpenOptions {
  /** Maximum time until the server is ready, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Maximum size of one message of the server, in bytes. */
  readonly maxMessageBytes: number
  /**
   * Protocol era for child processes. `auto` probes for the newest one, and starts a process that exits at the probe
   * again with the older one. @default auto
   */
  readonly programEra?: VersionNegotiationMode
  /** Called when the server reports that its tools have changed. */
  readonly onToolsChanged?: (() => void) | undefined
}

interface OpenContext extends McpOpenOptions {
  /** Aborts when no caller waits for the connection. */
  readonly signal: AbortSignal
}

/** Opens a connection. Leaves nothing open when it rejects. */
export async function openMcpServer(
  server: ResolvedMcpServer,
  context: OpenContext,
): Promise<OpenMcpServer> {
  switch (server.kind) {
    case 'client':
      return { ...open(server.client, new OpenCalls()), callsAnswer: false }
    case 'program':
      return openProgram(server.program, context)
    case 'endpoint':
      return openEndpoint(server, context)
  }
}

/** The failure of a child process to become a server. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  readonly fate: ProcessFate | undefined
  /** Whether it failed at the probe for its era. */
  readonly isProbe: boolean

  constructor(cause: unknown, fate: ProcessFate | undefined) {
    super('The process is not an MCP server', { cause })
    this.fate = fate
    this.isProbe = cause instanceof Error && cause.message.includes('server/discover probe')
  }
}

async function openProgram(
  program: ResolvedProcessOptions,
  context: OpenContext,
): Promise<OpenMcpServer> {
  const { programEra = 'auto' } = context
  try {
    return await startProgram(program, context, programEra)
  } catch (error) {
    const isProbe = error instanceof StartFailure && error.isProbe && !context.signal.aborted
    if (isProbe) return startProgram(program, context, 'legacy')
    throw error
  }
}

async function startProgram(
  program: ResolvedProcessOptions,
  context: OpenContext,
  mode: VersionNegotiationMode,
): Promise<OpenMcpServer> {
  const { ProcessTransport } = await import('./process-transport.ts')
  const transport = new ProcessTransport(program, context.maxMessageBytes)
  const calls = new OpenCalls((size) => {
    transport.hold(size > 0)
  })
  const client = await newClient(calls, context, mode)
  try {
    await connect(client, transport, context)
  } catch (error) {
    await transport.close()
    // The exit of a process explains more than the error that it causes. After a timeout the exit is only a consequence.
    const isLate = error instanceof Error && 'code' in error && error.code === 'REQUEST_TIMEOUT'
    throw new StartFailure(error, isLate ? undefined : transport.fate)
  }
  reportCancels(transport, calls)
  handleInOrder(transport, () => calls.addressed?.onBytes())
  transport.hold(false)
  return open(client, calls, {
    fate: () => transport.fate,
    close: () => transport.close(),
    onToolsChanged: context.onToolsChanged,
  })
}

/** Statuses of a server that does not support streamable HTTP. */
const NOT_STREAMABLE: ReadonlySet<unknown> = new Set([400, 404, 405, 406, 415])

/** Connects over streamable HTTP, otherwise over SSE. */
async function openEndpoint(
  server: ResolvedMcpEndpoint,
  context: OpenContext,
): Promise<OpenMcpServer> {
  const calls: OpenCalls = new OpenCalls((size) => {
    if (size === 0) link.closeStreamLater()
  })
  const { maxMessageBytes, onToolsChanged } = context
  const alwaysListens = onToolsChanged !== undefined
  const { isSpecType } = await import('@modelcontextprotocol/client')
  const incoming = new IncomingMessages(isSpecType.ContentBlock)
  const link = new EndpointLink(server, { calls, incoming, maxMessageBytes, alwaysListens })
  const parts: EndpointParts = { server, link, calls, incoming, context }
  try {
    return await openStreamable(parts)
  } catch (error) {
    const isOlder = error instanceof Error && 'status' in error && NOT_STREAMABLE.has(error.status)
    const older = isOlder && !context.signal.aborted ? await openSse(parts) : undefined
    if (older !== undefined) return older
    await link.close()
    throw error
  }
}

interface EndpointParts {
  readonly server: ResolvedMcpEndpoint
  readonly link: EndpointLink
  readonly calls: OpenCalls
  readonly incoming: IncomingMessages
  readonly context: OpenContext
}

async function openStreamable(parts: EndpointParts): Promise<OpenMcpServer> {
  const { server, link, calls, incoming, context } = parts
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const transport = new StreamableHTTPClientTransport(server.url, {
    ...pickAuth(server),
    fetch: link.fetch,
    reconnectionScheduler: link.reconnect,
  })
  const client = await newClient(calls, context, 'auto')
  await connect(client, transport, context)
  incoming.protocolVersion = client.getNegotiatedProtocolVersion()
  link.attach(transport, { hasStream: client.getProtocolEra() === 'legacy' })
  reportCancels(transport, calls)
  return open(client, calls, {
    listen: () => link.listen(),
    hasSession: () => transport.sessionId !== undefined,
    async close() {
      await endSession(transport, context.connectTimeoutMs)
      await ignoreErrors(client.close())
      await link.close()
    },
    onToolsChanged: context.onToolsChanged,
  })
}

/** Connects over the SSE transport of 2024; undefined when the server does not support it either. */
async function openSse({
  server,
  link,
  calls,
  context,
}: EndpointParts): Promise<OpenMcpServer | undefined> {
  const { SSEClientTransport } = await import('@modelcontextprotocol/client')
  const transport = new SSEClientTransport(server.url, {
    ...pickAuth(server),
    fetch: link.plainFetch,
  })
  const client = await newClient(calls, context, 'legacy')
  try {
    await connect(client, transport, context)
  } catch {
    await ignoreErrors(transport.close())
    return undefined
  }
  reportCancels(transport, calls)
  handleInOrder(transport)
  return open(client, calls, {
    async close() {
      await ignoreErrors(client.close())
      await link.close()
    },
    onToolsChanged: context.onToolsChanged,
  })
}

function pickAuth({ authProvider }: ResolvedMcpEndpoint): Pick<McpEndpoint, 'authProvider'> {
  return authProvider === undefined ? {} : { authProvider }
}

/** Creates the handle of an open connection. */
function open(
  client: Client,
  calls: OpenCalls,
  parts: Partial<Pick<OpenMcpServer, 'fate' | 'listen' | 'hasSession' | 'close'>> &
    Pick<McpOpenOptions, 'onToolsChanged'> = {},
): OpenMcpServer {
  const { onToolsChanged, ...rest } = parts
  const server: OpenMcpServer = {
    client,
    calls,
    callsAnswer: true,
    tools: undefined,
    fate: () => undefined,
    listen: () => Promise.resolve(),
    hasSession: () => false,
    close: () => Promise.resolve(),
    ...rest,
  }
  // A client of the caller keeps its own handlers.
  if (rest.close === undefined) return server
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    server.tools = undefined
    onToolsChanged?.()
  })
  return server
}

/** Maximum time for a child process to answer the probe, in milliseconds; a silent one has the older era. */
const PROBE_TIMEOUT_MS = 10_000

/** Creates a client that answers questions for values and supports no other requests of servers. */
async function newClient(
  calls: OpenCalls,
  { connectTimeoutMs }: McpOpenOptions,
  mode: VersionNegotiationMode,
): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const timeoutMs = Math.min(PROBE_TIMEOUT_MS, connectTimeoutMs / 2)
  const client = new Client(
    { name: 'tutti', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode, ...(mode === 'auto' ? { probe: { timeoutMs } } : {}) },
      // The call itself answers questions in results.
      inputRequired: { autoFulfill: false },
    },
  )
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => {
    // NOTE: the SDK refuses questions of other modes, because this client does not declare them.
    const form = params as Extract<typeof params, { requestedSchema: unknown }>
    return calls.answer(form, mcpReq.signal)
  })
  return client
}

/** Connects the client. Stops when the signal aborts, and leaves nothing open when it rejects. */
async function connect(
  client: Client,
  transport: Transport,
  { connectTimeoutMs: timeout, signal }: OpenContext,
): Promise<void> {
  signal.throwIfAborted()
  const onAbort = (): void => {
    void ignoreErrors(transport.close())
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await client.connect(transport, { timeout, signal })
  } catch (error) {
    await ignoreErrors(transport.close())
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Reports to a call the message that cancels it. */
function reportCancels(transport: Transport, calls: OpenCalls): void {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const sending = send(message, options)
    const isCancel = 'method' in message && message.method === 'notifications/cancelled'
    if (isCancel) calls.acting?.onCancelSent(sending.catch(() => undefined))
    return sending
  }
}

/** Maximum time to terminate the session on the server, in milliseconds. */
const SESSION_END_MS = 2_000

/** Terminates the session on the server, so that the server can free its resources. */
async function endSession(
  transport: { terminateSession(): Promise<void> },
  timeoutMs: number,
): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(timeoutMs, SESSION_END_MS))
  await Promise.race([ignoreErrors(transport.terminateSession()), timeout])
  clearTimeout(timer)
}

async function ignoreErrors(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch {
    // A connection that cannot be closed is already closed.
  }
}
