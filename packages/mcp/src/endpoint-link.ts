/**
 * The requests of MCP over HTTP, and the parts of the protocol that the SDK leaves out.
 *
 *   call ─POST─▶ server ─JSON, or a stream of events─▶ answer
 *
 * T1 A request fails that was answered with nothing, with something else, or with a stream that ended or broke before
 *    the answer; the SDK would wait forever. A stream that the server can resume is resumed first.
 * T2 A call that is cancelled closes its exchange in every era: servers without sessions get no other notice.
 * T3 The stream for messages that belong to no request is open while calls are in flight and a moment longer, so that
 *    an idle connection does not keep the process alive; or always, where the owner wants these messages.
 * T4 A status that says that the request failed is an error with its body and its `Retry-After`.
 * T5 A message that is longer than the limit ends its call. Messages are the events of a stream, and whole bodies
 *    otherwise; bytes count after decompression.
 * T6 Requests go to the origin of the server only, also after a redirect, and only where its guard allows.
 *    Authorization may use other origins if the author gave a guard for that; they never get the author's headers.
 * T7 There is no time limit here: servers may be silent for long, and calls have their own limits.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { errorMessage } from '@tutti/core'
import {
  findHeaderProblems,
  guardedFetch,
  MessageSize,
  watchBody,
  type GuardedFetch,
  type Hop,
} from '@tutti/net'

import { McpError, toMcpNetworkError, toStatusError } from './mcp-error.ts'
import { handleInOrder, type OrderedMessages } from './message-order.ts'
import { raceAbort } from './race-abort.ts'

import type {
  JSONRPCMessage,
  RequestId,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client'
import type { McpHeaders, ResolvedMcpEndpoint } from './mcp-server.ts'
import type { McpCallScope, OpenCalls } from './open-calls.ts'

/** Parts of an {@link EndpointLink}. */
export interface EndpointLinkOptions {
  readonly calls: OpenCalls
  readonly maxMessageBytes: number
  /** Whether the stream for messages that belong to no request is always open. */
  readonly alwaysListens: boolean
}

/** Time for which that stream stays open when no call is in flight, in milliseconds. */
const LINGER_MS = 2_000

/** Time for which a call waits for that stream, in milliseconds; it may be silent until there is a message. */
const OPENING_MS = 1_000

/** Statuses that say nothing about which protocol a server speaks: denied, or not at this moment. */
const FAILED: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429])

/** Statuses that an authorization provider handles. */
const DENIED: ReadonlySet<number> = new Set([401, 403])

/** Options of the transport for one request. */
interface RequestOptions {
  readonly requestSignal: AbortSignal
  readonly onRequestStreamEnd: () => void
}

/** The exchange of one request. */
interface Exchange {
  isStream: boolean
}

/** Sends the requests of one connection. */
export class EndpointLink {
  /** For streamable HTTP. It does not open the stream of messages that belong to no request: `listen` does. */
  readonly fetch: typeof globalThis.fetch
  /** For the older transport, which is such a stream. */
  readonly plainFetch: typeof globalThis.fetch
  readonly #server: ResolvedMcpEndpoint
  readonly #options: EndpointLinkOptions
  readonly #guarded: GuardedFetch
  /** The exchange on whose behalf something is fetched. */
  readonly #exchange = new AsyncLocalStorage<Exchange>()
  /** Requests without an answer yet. */
  readonly #unanswered = new Map<RequestId, Exchange>()
  readonly #listening = new AsyncLocalStorage<AbortSignal>()
  #transport: StreamableHTTPClientTransport | undefined
  #ordered: OrderedMessages | undefined
  /** Ends the stream of messages that belong to no request; null when the server has none. */
  #stream: AbortController | undefined | null
  #opening: Promise<void> | undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(server: ResolvedMcpEndpoint, options: EndpointLinkOptions) {
    this.#server = server
    this.#options = options
    this.#guarded = guardedFetch({
      guard: server.guard,
      prepare: (hop, signal) => this.#prepare(hop, signal),
      toError: (failure) => toMcpNetworkError(failure, server.name),
    })
    this.plainFetch = (input, init) => this.#send(input, init)
    const isHeldBack = (init: RequestInit | undefined): boolean =>
      !options.alwaysListens && isListening(init) && this.#listening.getStore() === undefined
    this.fetch = (input, init) =>
      isHeldBack(init)
        ? Promise.resolve(new Response(null, { status: 405 }))
        : this.#send(input, init)
  }

  /** Reopens a stream that was lost, if calls are in flight. */
  readonly reconnect = (again: () => void, delayMs: number): (() => void) | undefined => {
    const isNeeded = (): boolean => this.#options.alwaysListens || this.#options.calls.size > 0
    if (!isNeeded()) return undefined
    const timer = setTimeout(() => {
      if (isNeeded()) again()
    }, delayMs)
    return () => {
      clearTimeout(timer)
    }
  }

  /** Supervises a connected transport. */
  attach(transport: StreamableHTTPClientTransport, { hasStream }: { hasStream: boolean }): void {
    this.#transport = transport
    if (!hasStream || this.#options.alwaysListens) this.#stream = null
    this.#ordered = handleInOrder(transport, (message) => {
      if ('id' in message && !('method' in message) && message.id !== undefined) {
        this.#unanswered.delete(message.id)
      }
    })
    const send: Transport['send'] = transport.send.bind(transport)
    const sendOne: Transport['send'] = (message, options) => {
      const scope = this.#options.calls.acting
      if (scope === undefined || !isRequest(message)) {
        return this.#exchange.exit(() => send(message, options))
      }
      return this.#ask({
        message,
        scope,
        send: (own) => send(message, { ...options, ...own }),
      })
    }
    transport.send = sendOne
  }

  /** Opens the stream of messages that belong to no request, if the server has one. Never rejects. */
  listen(): Promise<void> {
    clearTimeout(this.#lingering)
    if (this.#stream === null || this.#transport === undefined) return Promise.resolve()
    if (this.#stream === undefined) {
      const stream = new AbortController()
      const transport = this.#transport
      this.#stream = stream
      const opening = this.#options.calls.outside(() =>
        this.#listening.run(stream.signal, () => transport.resumeStream('')),
      )
      this.#opening = Promise.race([opening.catch(() => undefined), sleep(OPENING_MS)])
    }
    return this.#opening ?? Promise.resolve()
  }

  /** Closes that stream after a moment, since no call is in flight. */
  rest(): void {
    clearTimeout(this.#lingering)
    this.#lingering = setTimeout(() => {
      this.#stream?.abort()
      if (this.#stream !== null) this.#stream = undefined
    }, LINGER_MS).unref()
  }

  /** Ends all connections. Never rejects. */
  async close(): Promise<void> {
    clearTimeout(this.#lingering)
    this.#stream?.abort()
    await this.#guarded.close()
  }

  /** Sends the request of a call, and fails the call when no answer can come. */
  async #ask({
    message,
    scope,
    send,
  }: {
    readonly message: JSONRPCMessage & { readonly id: RequestId }
    readonly scope: McpCallScope
    readonly send: (options: RequestOptions) => Promise<void>
  }): Promise<void> {
    const exchange: Exchange = { isStream: false }
    this.#unanswered.set(message.id, exchange)
    const onRequestStreamEnd = (): void => {
      void this.#ended(message.id, scope, 'The connection was lost before the answer')
    }
    try {
      const requestSignal = scope.closing
      await this.#exchange.run(exchange, () => send({ requestSignal, onRequestStreamEnd }))
    } catch (error) {
      this.#unanswered.delete(message.id)
      throw error
    }
    if (!exchange.isStream) await this.#ended(message.id, scope, 'The request was not answered')
  }

  async #ended(id: RequestId, scope: McpCallScope, what: string): Promise<void> {
    const exchange = this.#unanswered.get(id)
    await this.#ordered?.handled()
    if (exchange === undefined || !this.#unanswered.delete(id) || scope.closing.aborted) return
    const kind = exchange.isStream ? 'connection_lost' : 'invalid_response'
    scope.fail(new McpError(kind, `${what} of MCP server ${this.#server.name}`))
  }

  async #send(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    const streamSignal = isListening(init) ? this.#listening.getStore() : undefined
    const { traceparent } = this.#options.calls.acting ?? {}
    if (traceparent !== undefined) headers.set('traceparent', traceparent)
    const signals = [init.signal, streamSignal].filter(isSignal)
    const response = await this.#guarded(input instanceof Request ? input : String(input), {
      ...init,
      // Redirects within the origin are followed here, and never by the SDK.
      redirect: 'follow',
      headers,
      ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
    })
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
    const exchange = this.#exchange.getStore()
    if (exchange !== undefined) exchange.isStream = isStream
    if (streamSignal !== undefined && !isStream) this.#stream = null
    if (this.#isFailure(response.status)) throw await toStatusError(response, this.#server.name)
    return this.#limited(response, isStream)
  }

  #isFailure(status: number): boolean {
    if (this.#server.authProvider !== undefined && DENIED.has(status)) return false
    return status >= 500 || FAILED.has(status)
  }

  #limited(response: Response, isStream: boolean): Response {
    const { calls, maxMessageBytes } = this.#options
    const size = new MessageSize(isStream)
    return watchBody(response, (piece) => {
      const scope = calls.addressed
      scope?.onBytes()
      if (size.add(piece) <= maxMessageBytes) return
      const { name } = this.#server
      const message = `MCP server ${name} sent a message longer than ${maxMessageBytes} bytes`
      const error = new McpError('invalid_response', message)
      scope?.fail(error)
      throw error
    })
  }

  /** Adds the author's headers, which do not replace those of the protocol. */
  async #prepare(hop: Hop, signal: AbortSignal | undefined): Promise<Hop> {
    const { url, mayLeaveOrigin } = this.#server
    if (hop.url.origin !== url.origin) {
      if (mayLeaveOrigin) return hop
      const message = `Refused to send a request for ${url.origin} to another origin (${hop.url.origin})`
      throw new McpError('configuration', message)
    }
    const given = await raceAbort(this.#headers(), signal)
    const own = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])
    return { ...hop, headers: { ...Object.fromEntries(own), ...hop.headers } }
  }

  async #headers(): Promise<McpHeaders> {
    const { headers, name } = this.#server
    if (typeof headers !== 'function') return headers
    const given = await Promise.resolve()
      .then(headers)
      .catch((cause: unknown) => {
        const message = `Cannot get the headers for MCP server ${name}: ${errorMessage(cause)}`
        const retryable = cause instanceof Error && 'retryable' in cause && cause.retryable === true
        throw new McpError('configuration', message, { cause, retryable })
      })
    const problems = findHeaderProblems(given)
    if (problems.length === 0) return given
    const message = `Cannot send the headers for MCP server ${name}: ${problems.join('; ')}`
    throw new McpError('configuration', message)
  }
}

/** Whether a request opens the stream of messages that belong to no request, and does not resume a lost one. */
function isListening({ method, headers }: RequestInit = {}): boolean {
  return method === 'GET' && !new Headers(headers).has('last-event-id')
}

function isRequest(
  message: JSONRPCMessage,
): message is JSONRPCMessage & { readonly id: RequestId; readonly method: string } {
  return 'method' in message && 'id' in message
}

function isSignal(signal: AbortSignal | null | undefined): signal is AbortSignal {
  return signal !== null && signal !== undefined
}
