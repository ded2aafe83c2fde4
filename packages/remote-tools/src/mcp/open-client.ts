/**
 * Opens connections to MCP servers. The library is loaded with the first one.
 *
 * Over HTTP the client speaks the newest revision that the server has: it asks with `server/discover`, and falls
 * back to `initialize`. A program is spoken to in the older era, which all of them have: some end at a request
 * that they do not know.
 */
import { takeInTurn } from './in-turn.ts'

import type { Client, Transport, VersionNegotiationMode } from '@modelcontextprotocol/client'
import type { McpEndpoint, ResolvedServer } from './options.ts'
import type { ProgramTransport } from './program-transport.ts'

/** A connection that is open. */
export interface OpenClient {
  readonly client: Client
  /** Present when the server is a program. */
  readonly transport?: ProgramTransport
}

/** How a connection is opened. */
export interface OpenOptions {
  readonly timeoutMs: number
  /** Told when the server says that its tools have changed. */
  readonly onChange: () => void
}

/** Opens a connection; rejects when there is none. */
export async function openClient(
  server: Exclude<ResolvedServer, { kind: 'client' }>,
  options: OpenOptions,
): Promise<OpenClient> {
  if (server.kind === 'endpoint') return { client: await openEndpoint(server, options) }
  const { ProgramTransport } = await import('./program-transport.ts')
  const transport = new ProgramTransport(server.program)
  const client = await newClient(options, 'legacy')
  try {
    await connect(client, transport, options)
    return { client, transport }
  } catch (error) {
    await transport.close()
    const { fate } = transport
    throw fate === undefined ? error : new Error(fate, { cause: error })
  }
}

async function newClient({ onChange }: OpenOptions, mode: VersionNegotiationMode): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'tutti', version: '1.0.0' }, { versionNegotiation: { mode } })
  client.setNotificationHandler('notifications/tools/list_changed', onChange)
  return client
}

async function connect(
  client: Client,
  transport: Transport,
  { timeoutMs }: OpenOptions,
): Promise<void> {
  await client.connect(transport, { timeout: timeoutMs })
  takeInTurn(transport)
}

/** Statuses of a server that speaks HTTP and not this transport. */
const NOT_STREAMABLE: ReadonlySet<number> = new Set([400, 404, 405, 406, 415])

async function openEndpoint(
  { url, headers }: Extract<ResolvedServer, { kind: 'endpoint' }>,
  options: OpenOptions,
): Promise<Client> {
  const { SdkHttpError, SSEClientTransport, StreamableHTTPClientTransport } =
    await import('@modelcontextprotocol/client')
  const fetching = { fetch: fetchWith(headers) }
  const client = await newClient(options, 'auto')
  try {
    await connect(client, new StreamableHTTPClientTransport(url, fetching), options)
    return client
  } catch (error) {
    await client.close()
    if (!(error instanceof SdkHttpError && NOT_STREAMABLE.has(error.status))) throw error
    return openOverSse(error)
  }

  async function openOverSse(error: unknown): Promise<Client> {
    const older = await newClient(options, 'legacy')
    try {
      await connect(older, new SSEClientTransport(url, fetching), options)
      return older
    } catch {
      await older.close()
      throw error
    }
  }
}

/** Headers of the author win over those of the protocol's library, except where it needs its own. */
function fetchWith(headers: McpEndpoint['headers'] = {}): typeof fetch {
  return async (input, init) => {
    const sent = new Headers(init?.headers)
    const own = typeof headers === 'function' ? await headers() : headers
    for (const [name, value] of Object.entries(own)) sent.set(name, value)
    return fetch(input, { ...init, headers: sent })
  }
}
