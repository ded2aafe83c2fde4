/**
 * MCP over HTTP, with what the protocol's library leaves to be desired of it.
 *
 *   call ─POST─▶ server ─JSON, or a stream of events─▶ answer
 *
 * T1 A request that was answered with nothing, with something else, or with a stream that ended or broke before
 *    the answer is a failure; the library would wait for ever. What a server can resume is resumed first.
 * T2 A call that is cancelled closes its exchange, in every era: servers without sessions hear nothing else.
 * T3 The stream for what a server says by itself is open while calls are under way, and a moment longer:
 *    idle, nothing keeps the process alive.
 * T4 Statuses that say that the request failed are failures with their words, and when to come back.
 * T5 A message that is longer than is allowed ends its call.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { AgentError } from '@tutti/agent-call'
import { MessageSize, type GuardedFetch } from '@tutti/net'

import { agentFetch } from '../http/agent-fetch.ts'
import { httpError } from '../http/http-error.ts'
import { takeInTurn, type InTurn } from './in-turn.ts'

import type {
  JSONRPCMessage,
  RequestId,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client'
import type { ResolvedMcpServer } from './mcp-server.ts'
import type { CallScope, OpenCalls } from './open-calls.ts'

/** A server that is an endpoint. */
export type ResolvedEndpoint = Extract<ResolvedMcpServer, { kind: 'endpoint' }>

/** What a connection over HTTP goes by. */
export interface EndpointOptions {
  readonly calls: OpenCalls
  readonly maxMessageBytes: number
}

/** How long the stream of a server stays open when no call is under way. */
const LINGER_MS = 2_000

/** Statuses that say nothing about which protocol a server speaks: denied, or not at this moment. */
const FAILED: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429])

/** What is sent with a request from here. */
interface Ours {
  readonly requestSignal: AbortSignal
  readonly onRequestStreamEnd: () => void
}

/** One request that is under way. */
interface Leg {
  isStream: boolean
}

/** How long a call waits for the stream of its server, which may say nothing before it has something to say. */
const OPENING_MS = 1_000

/** HTTP to one server. */
export class EndpointLink {
  /** For the transport of today: without the stream of the server, which `listen` opens. */
  readonly fetch: typeof globalThis.fetch
  /** For the transport of before, which is such a stream. */
  readonly plainFetch: typeof globalThis.fetch
  readonly #server: ResolvedEndpoint
  readonly #options: EndpointOptions
  readonly #agentFetch: GuardedFetch
  /** The request on whose behalf something is fetched. */
  readonly #leg = new AsyncLocalStorage<Leg>()
  /** Requests that were not answered yet. */
  readonly #unanswered = new Map<RequestId, Leg>()
  readonly #listening = new AsyncLocalStorage<AbortSignal>()
  #transport: StreamableHTTPClientTransport | undefined
  #inTurn: InTurn | undefined
  /** The stream of the server: what ends it; null when the server has none. */
  #stream: AbortController | undefined | null
  #opening: Promise<void> | undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(server: ResolvedEndpoint, options: EndpointOptions) {
    this.#server = server
    this.#options = options
    this.#agentFetch = agentFetch(server.url, server.http)
    this.plainFetch = (input, init) => this.#send(input, init)
    this.fetch = (input, init) =>
      isListening(init) && this.#listening.getStore() === undefined
        ? Promise.resolve(new Response(null, { status: 405 }))
        : this.#send(input, init)
  }

  /** Whether a stream that was lost is opened anew: not for nobody. */
  readonly reconnect = (again: () => void, delayMs: number): (() => void) | undefined => {
    if (this.#options.calls.size === 0) return undefined
    const timer = setTimeout(() => {
      if (this.#options.calls.size > 0) again()
    }, delayMs)
    return () => {
      clearTimeout(timer)
    }
  }

  /** Takes care of a transport that is connected. */
  attach(transport: StreamableHTTPClientTransport, { hasStream }: { hasStream: boolean }): void {
    this.#transport = transport
    if (!hasStream) this.#stream = null
    this.#inTurn = takeInTurn(transport, (message) => {
      if ('id' in message && !('method' in message) && message.id !== undefined) {
        this.#unanswered.delete(message.id)
      }
    })
    const send: Transport['send'] = transport.send.bind(transport)
    const sendOne: Transport['send'] = (message, options) => {
      const scope = this.#options.calls.acting
      if (scope === undefined || !isRequest(message)) {
        return this.#leg.exit(() => send(message, options))
      }
      return this.#ask({
        message,
        scope,
        send: (ours) => send(message, { ...options, ...ours }),
      })
    }
    // The client sends its messages one by one, as the port of transports has it.
    transport.send = sendOne
  }

  /** Opens the stream of the server, if it has one; resolves when it is open. Never rejects. */
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

  /** No call is under way: the stream is not needed much longer. */
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
    await this.#agentFetch.close()
  }

  /** Sends the request of a call, and sees to it that it ends. */
  async #ask({
    message,
    scope,
    send,
  }: {
    readonly message: JSONRPCMessage & { readonly id: RequestId }
    readonly scope: CallScope
    readonly send: (options: Ours) => Promise<void>
  }): Promise<void> {
    const leg: Leg = { isStream: false }
    this.#unanswered.set(message.id, leg)
    const onRequestStreamEnd = (): void => {
      void this.#ended(message.id, scope, 'The connection was lost before the answer')
    }
    try {
      await this.#leg.run(leg, () => send({ requestSignal: scope.wire, onRequestStreamEnd }))
    } catch (error) {
      this.#unanswered.delete(message.id)
      throw error
    }
    if (!leg.isStream) await this.#ended(message.id, scope, 'The request was not answered')
  }

  async #ended(id: RequestId, scope: CallScope, what: string): Promise<void> {
    const leg = this.#unanswered.get(id)
    await this.#inTurn?.handled()
    if (leg === undefined || !this.#unanswered.delete(id) || scope.wire.aborted) return
    scope.fail(
      new AgentError(`${what} of MCP server ${this.#server.name}`, {
        failureType: leg.isStream ? 'connection_lost' : 'invalid_response',
        retryable: leg.isStream,
      }),
    )
  }

  async #send(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    const streamSignal = isListening(init) ? this.#listening.getStore() : undefined
    const { traceparent } = this.#options.calls.acting ?? {}
    if (traceparent !== undefined) headers.set('traceparent', traceparent)
    const signals = [init.signal, streamSignal].filter(isSignal)
    const response = await this.#agentFetch(input instanceof Request ? input : String(input), {
      ...init,
      headers,
      ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
    })
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
    const leg = this.#leg.getStore()
    if (leg !== undefined) leg.isStream = isStream
    if (streamSignal !== undefined && !isStream) this.#stream = null
    if (response.status >= 500 || FAILED.has(response.status)) throw await httpError(response)
    return this.#watched(response, isStream)
  }

  #watched(response: Response, isStream: boolean): Response {
    const { calls, maxMessageBytes } = this.#options
    if (response.body === null) return response
    const size = new MessageSize(isStream)
    const transform = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        const scope = calls.addressed
        scope?.onBytes()
        if (size.add(piece) > maxMessageBytes) {
          const error = tooLong(this.#server, maxMessageBytes)
          scope?.fail(error)
          throw error
        }
        controller.enqueue(piece)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(transform), { status, statusText, headers })
  }
}

function tooLong({ name }: ResolvedEndpoint, maxBytes: number): AgentError {
  return new AgentError(`MCP server ${name} sent a message longer than ${maxBytes} bytes`, {
    failureType: 'invalid_response',
    retryable: false,
  })
}

/** Whether this asks for the stream of a server, and not for one that was lost. */
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
