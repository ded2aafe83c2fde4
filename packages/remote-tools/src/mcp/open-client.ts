/**
 * Opens connections to MCP servers. The library is loaded with the first one.
 *
 * Over HTTP the client speaks the newest revision that the server has: it asks with `server/discover`, and falls
 * back to `initialize`. A program is spoken to in the older era, which all of them have: some end at a request
 * that they do not know.
 */
import { guardedFetch } from './guarded-fetch.ts'
import { takeInTurn } from './in-turn.ts'

import type { Client, Transport, VersionNegotiationMode } from '@modelcontextprotocol/client'
import type { McpElicitations } from './elicitation.ts'
import type { ResolvedServer } from './options.ts'
import type { ProgramTransport } from './program-transport.ts'

/** A connection that is open. */
export interface OpenClient {
  readonly client: Client
  /** Present when the server is a program. */
  readonly transport?: ProgramTransport
  /** Present when the server is an endpoint. */
  readonly link?: EndpointLink
}

/** State of the connections to an endpoint. */
export interface EndpointLink {
  /** Reason for which they were ended here; undefined while they are open. */
  readonly fate: string | undefined
  /** Ends them. */
  close(): Promise<void>
}

/** How a connection is opened. */
export interface OpenOptions {
  readonly timeoutMs: number
  /** Bytes of one message of an endpoint, at most. */
  readonly maxMessageBytes: number
  /** Told when the server says that its tools have changed. */
  readonly onChange: () => void
  /** Answers the questions of the server. */
  readonly elicitations: McpElicitations
}

/** Opens a connection; rejects when there is none. */
export async function openClient(
  server: Exclude<ResolvedServer, { kind: 'client' }>,
  options: OpenOptions,
): Promise<OpenClient> {
  if (server.kind === 'endpoint') return openEndpoint(server, options)
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

async function newClient(
  { onChange, elicitations }: OpenOptions,
  mode: VersionNegotiationMode,
): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const client = new Client(
    { name: 'tutti', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  )
  client.setNotificationHandler('notifications/tools/list_changed', onChange)
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => {
    // NOTE: the library has refused the other modes, which the client does not declare.
    const form = params as Extract<typeof params, { requestedSchema: unknown }>
    return elicitations.answer(form, mcpReq.signal)
  })
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
  server: Extract<ResolvedServer, { kind: 'endpoint' }>,
  options: OpenOptions,
): Promise<OpenClient> {
  let fate: string | undefined
  let current: Client | undefined
  const { fetch, close } = await guardedFetch({
    ...server,
    maxMessageBytes: options.maxMessageBytes,
    onTooLong(reason) {
      fate = reason
      // Its calls would wait for the rest of the message.
      void current?.close()
    },
  })
  const link: EndpointLink = {
    get fate() {
      return fate
    },
    close,
  }
  try {
    const client = await openOverHttp(server, {
      ...options,
      fetch,
      onClient: (opening) => {
        current = opening
      },
    })
    return { client, link }
  } catch (error) {
    await close()
    throw fate === undefined ? error : new Error(fate, { cause: error })
  }
}

interface HttpOptions extends OpenOptions {
  readonly fetch: typeof fetch
  /** Called with each client before it connects. */
  readonly onClient: (client: Client) => void
}

/** Connects over streamable HTTP, or over SSE where the server knows only that. */
async function openOverHttp(
  {
    url,
    authProvider,
  }: Pick<Extract<ResolvedServer, { kind: 'endpoint' }>, 'url' | 'authProvider'>,
  options: HttpOptions,
): Promise<Client> {
  const { SdkHttpError, SSEClientTransport, StreamableHTTPClientTransport } =
    await import('@modelcontextprotocol/client')
  const { fetch, onClient } = options
  const how = { fetch, ...(authProvider === undefined ? {} : { authProvider }) }
  const open = async (transport: Transport, mode: VersionNegotiationMode): Promise<Client> => {
    const client = await newClient(options, mode)
    onClient(client)
    try {
      await connect(client, transport, options)
      return client
    } catch (error) {
      await client.close()
      throw error
    }
  }
  try {
    return await open(new StreamableHTTPClientTransport(url, how), 'auto')
  } catch (error) {
    if (!(error instanceof SdkHttpError && NOT_STREAMABLE.has(error.status))) throw error
    // The first error tells more, where the server speaks neither.
    return open(new SSEClientTransport(url, how), 'legacy').catch(() => {
      throw error
    })
  }
}
