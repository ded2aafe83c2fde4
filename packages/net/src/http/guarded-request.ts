/**
 * One HTTP request and its whole response, with limits on addresses, time and bytes.
 *
 *   URL ─guard─▶ send ─▶ redirect? ─▶ guard … ─▶ body ─decompress─▶ at most maxBytes
 *
 * NET-Q1 The guard checks the URL and each redirect target before the request is sent, and sockets connect only to
 *    addresses that it has checked.
 * NET-Q2 The time limit covers everything from resolving the name to the last byte of the body, including all
 *    redirects. The caller's signal ends the request immediately.
 * NET-Q3 Bytes are counted after decompression, and bytes beyond the limit are not read.
 * NET-Q4 When the call ends, it leaves no connection open, except those of the caller's pool.
 * NET-Q5 Errors name the origin at most, because a path or query may contain a key.
 */
import { addAbortSignal } from 'node:stream'

import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { readLimitedBody } from './body.ts'
import { HttpConnections, type HttpResponse } from './connections.ts'
import { decompress } from './decompress.ts'
import { toNetworkError, NetworkError } from './network-error.ts'
import {
  resolveRequestOptions,
  type GuardedRequestOptions,
  type ResolvedRequestOptions,
} from './options.ts'
import { followRedirects, type Hop } from './redirect.ts'

/** A response with its body. */
export interface GuardedResponse {
  readonly status: number
  readonly headers: Headers
  /** URL of the response, after all redirects. */
  readonly url: string
  /** The body, decompressed. */
  readonly body: Buffer
  /** Whether the body continues after these bytes. */
  readonly truncated: boolean
}

/**
 * Sends a request and reads its response; a response of any status is a result.
 *
 * @throws {TuttiError} TOOL_FAILED when the guard refuses the request, or when no response arrives; its cause is then
 *   a {@link NetworkError}.
 * @throws {TuttiError} TOOL_TIMEOUT when a time limit passes.
 * @throws {RangeError} for invalid limits.
 * @throws the reason of `signal` when it aborts.
 */
export async function guardedRequest(
  url: string | URL,
  options: GuardedRequestOptions,
): Promise<GuardedResponse> {
  const settings = resolveRequestOptions(options)
  const connections =
    'connections' in options
      ? options.connections
      : new HttpConnections(options.guard, { keepAlive: false })
  const { method, headers, body } = settings
  const first: Hop = { url: connections.guard.assertUrl(url), method, headers, body }
  const limits = new RequestLimits(settings)
  limits.start(settings.timeoutMs, () => timeoutError(first.url, settings.timeoutMs))
  try {
    return await request(first, { connections, settings, limits })
  } catch (error) {
    const { signal } = limits
    const failure: unknown = signal.aborted ? signal.reason : toToolError(error, first.url)
    limits.abort(failure)
    throw failure
  } finally {
    limits.end()
    if (!('connections' in options)) await connections.close()
  }
}

interface Exchange {
  readonly connections: HttpConnections
  readonly settings: ResolvedRequestOptions
  readonly limits: RequestLimits
}

async function request(first: Hop, exchange: Exchange): Promise<GuardedResponse> {
  const { redirect, maxRedirects, maxBytes } = exchange.settings
  const { response, url } = await followRedirects(first, (hop) => send(hop, exchange), {
    maxRedirects: redirect === 'manual' ? undefined : maxRedirects,
    sameOrigin: false,
  })
  const { status, headers } = response
  const plain = decompress(
    addAbortSignal(exchange.limits.signal, response.body),
    headers.get('content-encoding'),
  )
  const { bytes, truncated } = await readLimitedBody(plain, maxBytes)
  return { status, headers, url: url.href, body: bytes, truncated }
}

async function send(
  hop: Hop,
  { connections, settings: { connectTimeoutMs }, limits }: Exchange,
): Promise<HttpResponse> {
  const { signal } = limits
  const onConnect = limits.start(connectTimeoutMs, () =>
    connectTimeoutError(hop.url, connectTimeoutMs),
  )
  try {
    return await connections.send({ ...hop, signal, onConnect })
  } finally {
    onConnect()
  }
}

/** The limits of one request: a signal that aborts when the caller aborts or a limit passes. */
class RequestLimits {
  readonly #controller = new AbortController()
  readonly #settings: Pick<ResolvedRequestOptions, 'clock' | 'signal'>
  readonly #stops: (() => void)[] = []

  constructor(settings: Pick<ResolvedRequestOptions, 'clock' | 'signal'>) {
    this.#settings = settings
    const { signal } = settings
    signal?.addEventListener('abort', this.#follow, { once: true })
    if (signal?.aborted === true) this.#follow()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** Aborts with the result of `reason` after `limitMs`, unless the returned function is called before. */
  start(limitMs: number, reason: () => Error): () => void {
    if (limitMs === Infinity) return () => undefined
    const stop = this.#settings.clock.after(limitMs, () => {
      this.abort(reason())
    })
    this.#stops.push(stop)
    return stop
  }

  end(): void {
    this.#settings.signal?.removeEventListener('abort', this.#follow)
    for (const stop of this.#stops) stop()
  }

  readonly #follow = (): void => {
    this.abort(this.#settings.signal?.reason)
  }
}

function timeoutError({ origin }: URL, timeoutMs: number): TuttiError {
  const message = `Request to ${origin} timed out after ${timeoutMs} ms`
  return new TuttiError('TOOL_TIMEOUT', message, { retryable: true })
}

function connectTimeoutError({ origin }: URL, connectTimeoutMs: number): TuttiError {
  const message = `Cannot connect to ${origin} within ${connectTimeoutMs} ms`
  return new TuttiError('TOOL_TIMEOUT', message, { retryable: true })
}

function toToolError(error: unknown, { origin }: URL): TuttiError {
  // node:http refuses methods and headers with a TypeError before it connects.
  const cause = error instanceof TypeError ? error : toNetworkError(error, true)
  if (TuttiError.isInstance(cause)) return cause
  return new TuttiError('TOOL_FAILED', `Request to ${origin} failed: ${errorMessage(cause)}`, {
    cause,
    retryable: cause instanceof NetworkError && cause.retryable,
  })
}
