/** Opening a connection to an MCP server over HTTP. */
import { connect, forgetTools, newClient, noteCancels, quietly } from './connect-client.ts'
import { EndpointLink, type ResolvedEndpoint } from './endpoint-transport.ts'
import { takeInTurn } from './in-turn.ts'
import { OpenCalls } from './open-calls.ts'

import type { OpenOptions, OpenServer } from './connect-client.ts'

/** Statuses of a server that speaks HTTP and not the transport of today. */
const NOT_STREAMABLE: ReadonlySet<unknown> = new Set([400, 404, 405, 406, 415])

/** Over streamable HTTP, else over SSE; rejects when there is neither. */
export async function openEndpoint(
  server: ResolvedEndpoint,
  options: OpenOptions,
): Promise<OpenServer> {
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
