/**
 * The connections of a tool, or of all tools of one document. They are opened at the first call, kept
 * for the next one, and none keeps the process alive once no call is under way.
 */
import { guardedRequest, type HttpSend, type NetworkGuard } from '@tutti/net'

import { exchange, type HttpAnswer, type HttpRequest } from './exchange.ts'

import type { Agent } from 'undici'

/** Time until a connection is there, in milliseconds; undici's own default. */
const CONNECT_TIMEOUT_MS = 10_000

/** How one request is made. */
export interface SendOptions {
  readonly signal: AbortSignal
  readonly maxBytes: number
  /** Redirects that are followed, at most. */
  readonly redirects: number
  /** Whether the guard is asked of the first URL, too, and not only of redirects. */
  readonly guardsFirst: boolean
}

/** A pool of connections that a guard watches over. */
export class HttpConnections implements AsyncDisposable {
  readonly #guard: NetworkGuard
  readonly #closing = new AbortController()
  #agent: Agent | undefined
  #opening: Promise<Agent> | undefined

  constructor(guard: NetworkGuard) {
    this.#guard = guard
  }

  /** Whether `close` was called. */
  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Makes a request and reads its answer, whatever its status; rejects when there is none. */
  async send(request: HttpRequest, options: SendOptions): Promise<HttpAnswer> {
    if (options.guardsFirst) this.#guard.assertUrl(request.target.url)
    const dispatcher = this.#agent ?? (await this.#open())
    const { redirects, maxBytes, signal } = options
    return redirects === 0
      ? exchange(request, { dispatcher, signal, maxBytes })
      : this.#follow(request, { ...options, dispatcher })
  }

  /** Ends all connections: calls in flight fail, and so do later ones. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort()
    const agent = this.#agent ?? (await this.#opening)
    await agent?.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #open(): Promise<Agent> {
    this.#opening ??= import('undici').then(({ Agent }) => {
      this.#agent = new Agent({
        connect: { lookup: this.#guard.lookup, timeout: CONNECT_TIMEOUT_MS },
        // The call has a limit of its own, which covers headers and body.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      return this.#agent
    })
    return this.#opening
  }

  async #follow(
    { target, method, headers, body }: HttpRequest,
    { signal, maxBytes, redirects, dispatcher }: SendOptions & { readonly dispatcher: Agent },
  ): Promise<HttpAnswer> {
    const answer = await guardedRequest(target.url, {
      guard: this.#guard,
      send: sendOver(dispatcher),
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal,
      maxRedirects: redirects,
      maxBytes,
      timeoutMs: Infinity,
    })
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.from(answer.body),
      truncated: answer.truncated,
    }
  }
}

/** Makes the single requests of a guarded one over undici. */
function sendOver(agent: Agent): HttpSend {
  return async ({ url, method, headers, body, signal, onConnect }) => {
    // The length follows from the body, and undici insists on its own.
    const { 'content-length': _, ...sent } = headers
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: sent,
      signal,
      ...(body === undefined ? {} : { body }),
    })
    onConnect()
    const received = new Headers()
    for (const [name, value] of Object.entries(answer.headers)) {
      for (const one of [value ?? []].flat()) received.append(name, one)
    }
    return { status: answer.statusCode, headers: received, body: answer.body }
  }
}
