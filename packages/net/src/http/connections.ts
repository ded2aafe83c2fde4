/**
 * HTTP connections behind a network guard.
 *
 *   request ─guard─▶ connection, from the pool or to an address that was checked ─▶ answer
 *
 * C1 The guard checks every URL, and sockets connect to addresses that it has checked.
 * C2 A request has no time limit of its own: its signal is the limit. An abort ends the connection at once,
 *    also while it is being opened.
 * C3 A body is complete, or it fails: a reset is never taken for the end. undici takes a reset for the end when
 *    the answer has `connection: close`, which is why this is node:http.
 * C4 Idle connections do not keep the process alive.
 * C5 No proxy of the environment is used: a proxy would look names up itself.
 */
import http from 'node:http'
import https from 'node:https'

import { NetworkError, toNetworkError } from './network-error.ts'

import type { Readable } from 'node:stream'
import type { NetworkGuard } from './network-guard.ts'

/** One request to one place. */
export interface OutgoingRequest {
  readonly url: URL
  readonly method: string
  /** By name in lower case, without `content-length`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** Aborts the request, and then the reading of its body. */
  readonly signal?: AbortSignal | undefined
  /** Called when the connection is open. */
  readonly onConnect?: () => void
}

/** An answer whose body has yet to be read. */
export interface HttpResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  /** Bytes as they were sent, which may be compressed. Destroying it closes the connection. */
  readonly body: Readable
}

/**
 * Time for which an idle connection is kept, in milliseconds. Servers keep theirs longer; the shortest common time
 * is the 5 s of Node.
 */
const IDLE_MS = 4_000

/** Sends requests over connections that it keeps for the next request. */
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

  /** Whether `close` was called. */
  get closed(): boolean {
    return this.#closed
  }

  /**
   * Sends a request; resolves when the headers of the answer have arrived. Redirects are not followed.
   *
   * @throws {TuttiError} TOOL_FAILED when the guard refuses.
   * @throws {NetworkError} when there is no answer.
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
      headers: { ...headers, ...length },
      agent: isSecure ? this.#secure() : this.#plain(),
      lookup: this.guard.lookup,
      ...(signal === undefined ? {} : { signal }),
    }
    const sent = isSecure ? https.request(url, options) : http.request(url, options)
    const answer = answerTo(sent, request)
    sent.end(body)
    return answer
  }

  /** Ends all connections: requests in flight fail. Later ones open new connections. */
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

function answerTo(
  sent: http.ClientRequest,
  { url, signal, onConnect }: OutgoingRequest,
): Promise<HttpResponse> {
  let isConnected = false
  let message: http.IncomingMessage | undefined
  const connected = (): void => {
    isConnected = true
    onConnect?.()
  }
  const failure = (error: unknown): unknown =>
    signal?.aborted === true ? signal.reason : toNetworkError(error, isConnected)
  return new Promise((resolve, reject) => {
    sent.on('socket', (socket) => {
      if (sent.reusedSocket) connected()
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected)
    })
    sent.on('response', (response) => {
      message = response
      const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
      // A body may fail before it is read, and after it was given up.
      response.on('error', () => undefined)
      resolve({ status, statusText, headers: headersOf(rawHeaders), body: response })
    })
    sent.on('error', (error) => {
      // A complete answer counts even when the rest of the request could not be sent.
      if (message?.complete === false) message.destroy(error)
      reject(failure(error))
    })
    // A switch to another protocol ends without an error.
    sent.on('close', () => {
      reject(failure(new NetworkError('lost', 'the connection was closed without an answer')))
    })
  })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < raw.length; i += 2) headers.append(raw[i] ?? '', raw[i + 1] ?? '')
  return headers
}
