/**
 * HTTP connections behind a network guard.
 *
 *   request ─guard─▶ connection, from the pool or to an address that was checked ─▶ response
 *
 * NET-C1 The guard checks every URL, and sockets connect only to addresses that it has checked.
 * NET-C2 Requests have no time limit here; the caller limits them with the signal. An abort ends the connection
 *    immediately, also while it is being opened.
 * NET-C3 A body is complete or it fails: a reset never counts as the end. undici accepts a reset as the end if the
 *    response has `connection: close`, so this uses node:http.
 * NET-C4 Idle connections do not keep the process alive.
 * NET-C5 Proxy settings of the environment are ignored: a proxy would resolve names itself.
 * NET-C6 A request without a User-Agent gets `tutti/VERSION`.
 */
import http from 'node:http'
import https from 'node:https'

import { NetworkError, toNetworkError } from './network-error.ts'
import { DEFAULT_USER_AGENT } from './user-agent.ts'

import type { Readable } from 'node:stream'
import type { NetworkGuard } from './network-guard.ts'

/** One request to one URL. */
export interface OutgoingRequest {
  readonly url: URL
  readonly method: string
  /** Headers by lower-case name, without `content-length`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** Aborts the request or the reading of the response body. */
  readonly signal?: AbortSignal | undefined
  /** Called when the connection is open. */
  readonly onConnect?: () => void
}

/** A response whose body has not been read. */
export interface HttpResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  /** Body as sent, possibly compressed. Destroying it closes the connection. */
  readonly body: Readable
}

/**
 * Time after which an idle connection is closed, in milliseconds. It is shorter than that of common servers; the
 * shortest is Node's, 5 s.
 */
const IDLE_MS = 4_000

/** Sends requests over a pool of connections, which later requests reuse. */
export class HttpConnections implements AsyncDisposable {
  readonly guard: NetworkGuard
  readonly #options: http.AgentOptions
  #http: http.Agent | undefined
  #https: https.Agent | undefined
  #closed = false

  constructor(guard: NetworkGuard, { keepAlive = true }: { readonly keepAlive?: boolean } = {}) {
    this.guard = guard
    this.#options = keepAlive ? { keepAlive, timeout: IDLE_MS } : { keepAlive }
  }

  /** Whether `close` has been called. */
  get closed(): boolean {
    return this.#closed
  }

  /**
   * Sends a request; resolves when the response headers have arrived. Redirects are not followed.
   *
   * @throws {TuttiError} TOOL_FAILED when the guard refuses the request.
   * @throws {NetworkError} when no response arrives.
   * @throws {TypeError} for a method or header that cannot be sent.
   * @throws the reason of `signal` when it aborts.
   */
  async send(request: OutgoingRequest): Promise<HttpResponse> {
    const { url, method, headers, body, signal } = request
    signal?.throwIfAborted()
    this.guard.assertUrl(url)
    const isSecure = url.protocol === 'https:'
    const length = body === undefined ? {} : { 'content-length': body.byteLength }
    const options = {
      method,
      headers: { 'user-agent': DEFAULT_USER_AGENT, ...headers, ...length },
      agent: isSecure ? this.#secure() : this.#plain(),
      lookup: this.guard.lookup,
      ...(signal === undefined ? {} : { signal }),
    }
    const sent = isSecure ? https.request(url, options) : http.request(url, options)
    const response = awaitResponse(sent, request)
    sent.end(body)
    return response
  }

  /** Closes all connections. Requests in flight fail; later requests open new connections. */
  async close(): Promise<void> {
    this.#closed = true
    this.#http?.destroy()
    this.#https?.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #plain(): http.Agent {
    this.#http ??= new http.Agent(this.#options)
    return this.#http
  }

  #secure(): https.Agent {
    this.#https ??= new https.Agent(this.#options)
    return this.#https
  }
}

function awaitResponse(
  sent: http.ClientRequest,
  { url, signal, onConnect }: OutgoingRequest,
): Promise<HttpResponse> {
  let isConnected = false
  let message: http.IncomingMessage | undefined
  const onConnected = (): void => {
    isConnected = true
    onConnect?.()
  }
  const toFailure = (error: unknown): unknown =>
    signal?.aborted === true ? signal.reason : toNetworkError(error, isConnected)
  return new Promise((resolve, reject) => {
    sent.on('socket', (socket) => {
      if (sent.reusedSocket) onConnected()
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnected)
    })
    sent.on('response', (response) => {
      message = response
      const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
      // The body may fail before it is read or after the caller has dropped it.
      response.on('error', () => undefined)
      resolve({ status, statusText, headers: toHeaders(rawHeaders), body: response })
    })
    sent.on('error', (error) => {
      // A complete response counts even if the rest of the request could not be sent.
      if (message?.complete === false) message.destroy(error)
      reject(toFailure(error))
    })
    // A protocol upgrade closes the request without an error.
    sent.on('close', () => {
      reject(toFailure(new NetworkError('lost', 'the connection was closed without a response')))
    })
  })
}

function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < raw.length; i += 2) headers.append(raw[i] ?? '', raw[i + 1] ?? '')
  return headers
}
