/**
 * Sends the requests of MCP over HTTP, and handles the parts of the protocol that the SDK omits.
 *
 *   call ─POST─▶ server ─JSON, or an event stream─▶ response
 *
 * MCP-T1 A request fails if the HTTP response is empty or contains no response to it, or if the stream ends or breaks
 *    before that; the SDK would wait forever. A stream that the server can resume is resumed first.
 * MCP-T2 A cancelled call closes its exchange in every protocol era: servers without sessions are not notified
 *    otherwise.
 * MCP-T3 The stream for messages that belong to no request is open while calls are in flight and for a moment after, so
 *    that an idle connection does not keep the process alive. With `alwaysListens` it stays open.
 * MCP-T4 A response with an error status is an error with its body and its `Retry-After`.
 * MCP-T5 A message longer than the limit ends its call. Messages are the events of a stream or a whole other body;
 *    bytes are counted after decompression.
 * MCP-T6 Requests go only to the origin of the server, also after a redirect, and only where its guard allows it.
 *    Authorization may use other origins if the author configured a guard; they never get the author's headers.
 * MCP-T7 Requests have no time limit here: servers may be silent for long, and calls have their own limits.
 * MCP-T8 An answer that cannot be used ends its request; see `incoming/incoming-messages.ts`.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { errorMessage, isJsonObject } from '@tutti/core/internal'
import {
  findHeaderProblems,
  guardedFetch,
  MessageSize,
  watchBody,
  type GuardedFetch,
  type Hop,
} from '@tutti/net/internal'

import { readResponse } from './incoming/response-messages.ts'
import { McpError, toMcpNetworkError, toStatusError } from './mcp-error.ts'
import { handleInOrder, type OrderedMessages } from './message-order.ts'
import { raceAbort } from './race-abort.ts'

import type {
  JSONRPCMessage,
  RequestId,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client'
import type { IncomingMessages } from './incoming/incoming-messages.ts'
import type { McpHeaders, ResolvedMcpEndpoint } from './mcp-server.ts'
import type { McpCallScope, OpenCalls } from './open-calls.ts'

/** Options of an {@link EndpointLink}. */
export interface EndpointLinkOptions {
  readonly calls: OpenCalls
  readonly incoming: IncomingMessages
  readonly maxMessageBytes: number
  /** Whether the stream for messages that belong to no request is always open. */
  readonly alwaysListens: boolean
}

/** Time for which the stream for messages without a request stays open when no call is in flight, in milliseconds. */
const LINGER_MS = 2_000

/**
 * Maximum time for that stream to open while a call waits, in milliseconds; a server may be silent until it has a
 * message.
 */
const OPENING_MS = 1_000

/** Statuses that do not show which protocol a server speaks: access denied, or not available now. */
const FAILED: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429])

/** Statuses that an authorization provider handles. */
const DENIED: ReadonlySet<number> = new Set([401, 403])

/** Options of the transport for one request. */
interface RequestOptions {
  readonly requestSignal: AbortSignal
  readonly onRequestStreamEnd: () => void
}

/** One request and its response. */
interface Exchange {
  isStream: boolean
}

/** Sends the requests of one connection. */
export class EndpointLink {
  /** `fetch` for streamable HTTP. Only `listen` opens the stream for messages that belong to no request. */
  readonly fetch: typeof globalThis.fetch
  /** `fetch` for the older transport, which is such a stream. */
  readonly plainFetch: typeof globalThis.fetch
  readonly #server: ResolvedMcpEndpoint
  readonly #options: EndpointLinkOptions
  readonly #guarded: GuardedFetch
  /** The exchange that the current code belongs to. */
  readonly #exchange = new AsyncLocalStorage<Exchange>()
  /** Requests that have no response yet. */
  readonly #unanswered = new Map<RequestId, Exchange>()
  readonly #listening = new AsyncLocalStorage<AbortSignal>()
  #transport: StreamableHTTPClientTransport | undefined
  #ordered: OrderedMessages | undefined
  /** Ends the stream for messages that belong to no request; null when the server has none. */
  #stream: AbortController | undefined | null
  #opening: Promise<void> | undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(server: ResolvedMcpEndpoint, options: EndpointLinkOptions) {
    this.#server = server
    this.#options = options
    this.#guarded = guardedFetch({
      guard: server.guard,
      prepare: (hop, signal) => this.#addHeaders(hop, signal),
      toError: (failure) => toMcpNetworkError(failure, server.name),
    })
    this.plainFetch = (input, init) => this.#send(input, init, { isPlain: true })
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

  /** Takes over the messages of a connected transport. */
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
      return this.#request({
        message,
        scope,
        send: (own) => send(message, { ...options, ...own }),
      })
    }
    transport.send = sendOne
  }

  /** Opens the stream for messages that belong to no request, if the server has one. Never rejects. */
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

  /** Closes that stream after `LINGER_MS`. Called when no call is in flight. */
  closeStreamLater(): void {
    clearTimeout(this.#lingering)
    this.#lingering = setTimeout(() => {
      this.#stream?.abort()
      if (this.#stream !== null) this.#stream = undefined
    }, LINGER_MS).unref()
  }

  /** Closes all connections. Never rejects. */
  async close(): Promise<void> {
    clearTimeout(this.#lingering)
    this.#stream?.abort()
    await this.#guarded.close()
  }

  /** Sends the request of a call, and fails the call when no response can arrive. */
  async #request({
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
      void this.#onExchangeEnded(message.id, scope, 'The connection was lost before the response')
    }
    try {
      const requestSignal = scope.closing
      await this.#exchange.run(exchange, () => send({ requestSignal, onRequestStreamEnd }))
    } catch (error) {
      this.#unanswered.delete(message.id)
      throw error
    }
    if (!exchange.isStream)
      await this.#onExchangeEnded(message.id, scope, 'The request got no response')
  }

  async #onExchangeEnded(id: RequestId, scope: McpCallScope, what: string): Promise<void> {
    const exchange = this.#unanswered.get(id)
    await this.#ordered?.handled()
    if (exchange === undefined || !this.#unanswered.delete(id) || scope.closing.aborted) return
    const kind = exchange.isStream ? 'connection_lost' : 'invalid_response'
    scope.fail(new McpError(kind, `${what} of MCP server ${this.#server.name}`))
  }

  async #send(
    input: Parameters<typeof fetch>[0],
    init: RequestInit = {},
    { isPlain = false }: { readonly isPlain?: boolean } = {},
  ): Promise<Response> {
    const { calls, incoming } = this.#options
    const headers = new Headers(init.headers)
    const streamSignal = isListening(init) ? this.#listening.getStore() : undefined
    const { traceparent } = calls.acting ?? {}
    if (traceparent !== undefined) headers.set('traceparent', traceparent)
    const signals = [init.signal, streamSignal].filter(isSignal)
    const sent = parseJson(init.body)
    incoming.sent(sent)
    const sending = this.#guarded(input instanceof Request ? input : String(input), {
      ...init,
      // Redirects within the origin are followed here, not by the SDK.
      redirect: 'follow',
      headers,
      ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
    })
    const response = await sending.catch((error: unknown) => {
      incoming.notSent(sent)
      throw error
    })
    if (!response.ok) incoming.notSent(sent)
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
    const exchange = this.#exchange.getStore()
    if (exchange !== undefined) exchange.isStream = isStream
    if (streamSignal !== undefined && !isStream) this.#stream = null
    if (this.#isFailure(response.status)) throw await toStatusError(response, this.#server.name)
    return readResponse(this.#limitMessages(response, isStream), {
      incoming,
      // In the older transport, the stream that all requests share has the answers.
      only: !isPlain && isRequest(sent) ? sent.id : undefined,
      // `attach` handles the requests of calls.
      endsWithStream: calls.acting === undefined,
    })
  }

  #isFailure(status: number): boolean {
    if (this.#server.authProvider !== undefined && DENIED.has(status)) return false
    return status >= 500 || FAILED.has(status)
  }

  #limitMessages(response: Response, isStream: boolean): Response {
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
  async #addHeaders(hop: Hop, signal: AbortSignal | undefined): Promise<Hop> {
    const { url, mayLeaveOrigin } = this.#server
    if (hop.url.origin !== url.origin) {
      if (mayLeaveOrigin) return hop
      const message = `Refused to send a request for ${url.origin} to another origin (${hop.url.origin})`
      throw new McpError('configuration', message)
    }
    const given = await raceAbort(this.#readHeaders(), signal)
    const own = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])
    return { ...hop, headers: { ...Object.fromEntries(own), ...hop.headers } }
  }

  async #readHeaders(): Promise<McpHeaders> {
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

/** Returns whether a request opens the stream for messages that belong to no request, and does not resume a lost one. */
function isListening({ method, headers }: RequestInit = {}): boolean {
  return method === 'GET' && !new Headers(headers).has('last-event-id')
}

function isRequest(
  message: unknown,
): message is JSONRPCMessage & { readonly id: RequestId; readonly method: string } {
  return isJsonObject(message) && 'method' in message && 'id' in message
}

function parseJson(body: RequestInit['body']): unknown {
  if (typeof body !== 'string') return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function isSignal(signal: AbortSignal | null | undefined): signal is AbortSignal {
  return signal !== null && signal !== undefined
}
