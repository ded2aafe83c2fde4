/** Opening a connection to an MCP server. What it needs is loaded at the first one. */
import { EndpointLink, type ResolvedEndpoint } from './endpoint-transport.ts'
import { takeInTurn } from './in-turn.ts'
import { OpenCalls } from './open-calls.ts'

import type { Client, Tool, Transport, VersionNegotiationMode } from '@modelcontextprotocol/client'
import type { McpProgram, ResolvedMcpServer } from './mcp-server.ts'

/** A connection that is open. */
export interface OpenServer {
  readonly client: Client
  readonly calls: OpenCalls
  /** The tools of the server, as they were when it was asked last. */
  tools: Promise<readonly Tool[]> | undefined
  /** How a server that is a program ended; undefined while it runs. */
  readonly fate: () => string | undefined
  /** Gets ready for a call: what the server says by itself is heard from here on. */
  readonly listen: () => Promise<void>
  /** Whether the server gave the connection an id, which it can forget. */
  readonly hasSession: () => boolean
  /** Ends it. Never rejects. */
  readonly close: () => Promise<void>
}

/** How a connection is opened. */
export interface OpenOptions {
  readonly timeoutMs: number
  readonly maxMessageBytes: number
  /** Aborts when nobody waits for the connection any more. */
  readonly signal: AbortSignal
}

/** Longest time that a program may take to say which era it is of; one that says nothing is of the older. */
const PROBE_TIMEOUT_MS = 10_000

/** Opens a connection; rejects when there is none. */
export async function openServer(
  server: ResolvedMcpServer,
  options: OpenOptions,
): Promise<OpenServer> {
  switch (server.kind) {
    case 'client':
      return givenClient(server.client)
    case 'program':
      return openProgram(server.program, options)
    case 'endpoint':
      return openEndpoint(server, options)
  }
}

function givenClient(client: Client): OpenServer {
  return {
    client,
    calls: new OpenCalls(),
    tools: undefined,
    fate: () => undefined,
    listen: () => Promise.resolve(),
    hasSession: () => false,
    close: () => Promise.resolve(),
  }
}

/** A program that ends when it is asked for its era is one of the older, and is started again. */
async function openProgram(program: McpProgram, options: OpenOptions): Promise<OpenServer> {
  try {
    return await startProgram(program, { ...options, mode: 'auto' })
  } catch (error) {
    const isProbe = error instanceof StartFailure && error.isProbe && !options.signal.aborted
    if (isProbe) return await startProgram(program, { ...options, mode: 'legacy' })
    throw error
  }
}

/** A program did not become a server. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  /** How the program ended, if it has. */
  readonly fate: string | undefined
  /** Whether it ended at the question for its era. */
  readonly isProbe: boolean

  constructor(cause: unknown, fate: string | undefined) {
    super('The program is no server', { cause })
    this.fate = fate
    this.isProbe = cause instanceof Error && /server\/discover probe/.test(cause.message)
  }
}

async function startProgram(
  program: McpProgram,
  options: OpenOptions & { readonly mode: VersionNegotiationMode },
): Promise<OpenServer> {
  const { ProgramTransport } = await import('./program-transport.ts')
  const transport = new ProgramTransport(program, options.maxMessageBytes)
  const calls = new OpenCalls((size) => {
    transport.hold(size > 0)
  })
  const client = await newClient(calls, options)
  try {
    await connect(client, transport, options)
  } catch (error) {
    const { fate } = transport
    await transport.close()
    throw new StartFailure(error, fate)
  }
  noteCancels(transport, calls)
  takeInTurn(transport, () => calls.addressed?.onBytes())
  const open: OpenServer = {
    client,
    calls,
    tools: undefined,
    fate: () => transport.fate,
    listen: () => Promise.resolve(),
    hasSession: () => false,
    close: () => transport.close(),
  }
  forgetTools(open)
  transport.hold(false)
  return open
}

/** Statuses of a server that speaks HTTP and not the transport of today. */
const NOT_STREAMABLE: ReadonlySet<unknown> = new Set([400, 404, 405, 406, 415])

async function openEndpoint(server: ResolvedEndpoint, options: OpenOptions): Promise<OpenServer> {
  const { maxMessageBytes } = options
  const calls: OpenCalls = new OpenCalls((size) => {
    if (size === 0) link.rest()
  })
  const link = new EndpointLink(server, { calls, maxMessageBytes })
  const place = { server, link, calls, options }
  try {
    return await openStreamable(place)
  } catch (error) {
    const isOlder = error instanceof Error && 'status' in error && NOT_STREAMABLE.has(error.status)
    const older = isOlder && !options.signal.aborted ? await openSse(place) : undefined
    if (older !== undefined) return older
    await link.close()
    throw error
  }
}

interface EndpointPlace {
  readonly server: ResolvedEndpoint
  readonly link: EndpointLink
  readonly calls: OpenCalls
  readonly options: OpenOptions
}

async function openStreamable({
  server,
  link,
  calls,
  options,
}: EndpointPlace): Promise<OpenServer> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const transport = new StreamableHTTPClientTransport(server.url, {
    fetch: link.fetch,
    reconnectionScheduler: link.reconnect,
  })
  const client = await newClient(calls, { ...options, mode: 'auto' })
  await connect(client, transport, options)
  link.attach(transport, { hasStream: client.getProtocolEra() === 'legacy' })
  noteCancels(transport, calls)
  const open: OpenServer = {
    client,
    calls,
    tools: undefined,
    fate: () => undefined,
    listen: () => link.listen(),
    hasSession: () => transport.sessionId !== undefined,
    async close() {
      await endSession(transport, options.timeoutMs)
      await quietly(client.close())
      await link.close()
    },
  }
  forgetTools(open)
  return open
}

/** The transport of before 2025; undefined when the server does not speak that either. */
async function openSse({
  server,
  link,
  calls,
  options,
}: EndpointPlace): Promise<OpenServer | undefined> {
  const { SSEClientTransport } = await import('@modelcontextprotocol/client')
  const transport = new SSEClientTransport(server.url, { fetch: link.plainFetch })
  const client = await newClient(calls, { ...options, mode: 'legacy' })
  try {
    await connect(client, transport, options)
  } catch {
    await quietly(transport.close())
    return undefined
  }
  noteCancels(transport, calls)
  takeInTurn(transport, () => undefined)
  const open: OpenServer = {
    client,
    calls,
    tools: undefined,
    fate: () => undefined,
    listen: () => Promise.resolve(),
    hasSession: () => false,
    async close() {
      await quietly(client.close())
      await link.close()
    },
  }
  forgetTools(open)
  return open
}

async function newClient(
  calls: OpenCalls,
  { mode, timeoutMs }: OpenOptions & { readonly mode: VersionNegotiationMode },
): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const client = new Client(
    { name: 'tutti', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: {
        mode,
        ...(mode === 'auto'
          ? { probe: { timeoutMs: Math.min(PROBE_TIMEOUT_MS, timeoutMs / 2) } }
          : {}),
      },
      // Questions that an answer holds are brought up by the call itself.
      inputRequired: { autoFulfill: false },
    },
  )
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => {
    const { addressed } = calls
    // NOTE: the library has refused questions of another mode, which this client does not say it can.
    const form = params as Extract<typeof params, { requestedSchema: unknown }>
    if (addressed !== undefined) return addressed.ask(form, mcpReq.signal)
    for (const { logger } of calls.all) {
      logger.warn(
        'A question of an MCP server was declined: several calls are under way, and it does not say for which it is',
      )
    }
    return { action: 'decline' }
  })
  return client
}

async function connect(
  client: Client,
  transport: Transport,
  { timeoutMs, signal }: OpenOptions,
): Promise<void> {
  signal.throwIfAborted()
  const onAbort = (): void => {
    void quietly(transport.close())
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await client.connect(transport, { timeout: timeoutMs, signal })
  } catch (error) {
    await quietly(transport.close())
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Tells a call of the message that cancels it. */
function noteCancels(transport: Transport, calls: OpenCalls): void {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const sending = send(message, options)
    const isCancel = 'method' in message && message.method === 'notifications/cancelled'
    if (isCancel) calls.acting?.onCancelSent(sending.catch(() => undefined))
    return sending
  }
}

/** When the server says that its tools have changed, the next call asks for them. */
function forgetTools(open: OpenServer): void {
  open.client.setNotificationHandler('notifications/tools/list_changed', () => {
    open.tools = undefined
  })
}

/** Tells an HTTP server that its session is over, so that it need not keep it. */
async function endSession(
  transport: { terminateSession(): Promise<void> },
  timeoutMs: number,
): Promise<void> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(timeoutMs, SESSION_END_MS))
  await Promise.race([quietly(transport.terminateSession()), tooLong])
  clearTimeout(timer)
}

/** How long a server may take to hear that a session is over. */
const SESSION_END_MS = 2_000

async function quietly(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch {
    // What cannot be closed is gone.
  }
}
