/** The client of the protocol's library, as it is set up here. The library is loaded with the first one. */
import type { Client, Tool, Transport, VersionNegotiationMode } from '@modelcontextprotocol/client'
import type { OpenCalls } from './open-calls.ts'

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

/** Makes a client that can be asked for values, and for nothing else. */
export async function newClient(
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

/** Connects; ends when the signal aborts, and leaves nothing open when it rejects. */
export async function connect(
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
export function noteCancels(transport: Transport, calls: OpenCalls): void {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const sending = send(message, options)
    const isCancel = 'method' in message && message.method === 'notifications/cancelled'
    if (isCancel) calls.acting?.onCancelSent(sending.catch(() => undefined))
    return sending
  }
}

/** When the server says that its tools have changed, the next call asks for them. */
export function forgetTools(open: OpenServer): void {
  open.client.setNotificationHandler('notifications/tools/list_changed', () => {
    open.tools = undefined
  })
}

/** Waits for what may fail. */
export async function quietly(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch {
    // What cannot be closed is gone.
  }
}
