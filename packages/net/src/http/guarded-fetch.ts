/**
 * `fetch` over guarded connections, for libraries that need one and for bodies that are read as they arrive.
 *
 *   request ─prepare─▶ guard ─▶ send ─▶ redirect? ─▶ prepare … ─▶ response ─decompress─▶ body
 *
 * NET-F1 Requests have no time limit here, because servers may be silent for long; callers limit them with the signal.
 * NET-F2 At most 5 redirects are followed, within one origin and with the same method.
 * NET-F3 `toError` converts failures, including those of reading the body. An abort rejects with the reason of the
 *    signal.
 */
import { readLimitedBody, withUrl } from './body.ts'
import { toByteStream } from './byte-stream.ts'
import { HttpConnections, type HttpResponse } from './connections.ts'
import { decompress } from './decompress.ts'
import { NetworkError, toNetworkError } from './network-error.ts'
import { followRedirects, type Hop } from './redirect.ts'

import type { NetworkGuard } from './network-guard.ts'

/** Options of `guardedFetch`. */
export interface GuardedFetchOptions {
  readonly guard: NetworkGuard
  /** Checks and completes each request and redirect, for example with a key for its origin. */
  readonly prepare?: (hop: Hop, signal: AbortSignal | undefined) => Hop | Promise<Hop>
  /**
   * Converts a refusal of the guard (TuttiError) or a {@link NetworkError} to the error that the caller gets.
   * @default the error itself
   */
  readonly toError?: (failure: Error, url: URL) => Error
}

/** A `fetch` function with its own connections. */
export interface GuardedFetch {
  (input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** Closes its connections. Requests in flight fail; later requests open new connections. Never rejects. */
  close(): Promise<void>
}

const MAX_REDIRECTS = 5

/** Creates a `fetch` function. It opens no connection before the first request. */
export function guardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const connections = new HttpConnections(options.guard)
  const fetch = async (
    input: string | URL | Request,
    init: RequestInit = {},
  ): Promise<Response> => {
    const { signal: given, redirect = 'follow', ...rest } = init
    const signal = given ?? (input instanceof Request ? input.signal : undefined)
    const first = await toHop(new Request(input, rest))
    const toError = (error: unknown, url: URL): unknown => {
      if (signal?.aborted === true) return signal.reason
      return error instanceof Error ? (options.toError?.(error, url) ?? error) : error
    }
    let current = first.url
    try {
      const send = async (hop: Hop): Promise<HttpResponse> => {
        signal?.throwIfAborted()
        current = hop.url
        const prepared = (await options.prepare?.(hop, signal)) ?? hop
        return connections.send({ ...prepared, signal })
      }
      const { response, url } = await followRedirects(first, send, {
        maxRedirects: { follow: MAX_REDIRECTS, error: 0, manual: undefined }[redirect],
        sameOrigin: true,
      })
      return toResponse(response, url, (error) => toError(toNetworkError(error, true), url))
    } catch (error) {
      throw toError(error, current)
    }
  }
  return Object.assign(fetch, { close: () => connections.close() })
}

/** @throws {TypeError} for an invalid request, as `fetch` does. */
async function toHop(request: Request): Promise<Hop> {
  const { url, method, headers } = request
  if (!headers.has('accept')) headers.set('accept', '*/*')
  const { bytes } = await readLimitedBody(request.body, Infinity)
  const body = request.body === null ? undefined : bytes
  return { url: new URL(url), method, headers: Object.fromEntries(headers), body }
}

/** Statuses that a final response may have (RFC 9110, section 15). */
const FIRST_STATUS = 200
const LAST_STATUS = 599

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Headers of a compressed body that are wrong once it is decompressed. */
const CODED_BODY_HEADERS = ['content-encoding', 'content-length']

function toResponse(
  { status, statusText, headers, body }: HttpResponse,
  url: URL,
  toError: (error: unknown) => unknown,
): Response {
  // Web servers can replace the global `Response` with their own class, which may accept any number.
  if (status < FIRST_STATUS || status > LAST_STATUS) {
    body.destroy()
    throw new NetworkError('invalid', `invalid status ${status}`)
  }
  try {
    const plain = decompress(body, headers.get('content-encoding'))
    if (plain !== body) for (const name of CODED_BODY_HEADERS) headers.delete(name)
    const content = WITHOUT_BODY.has(status) ? null : toByteStream(plain, toError)
    if (content === null) body.resume()
    return withUrl(new Response(content, { status, statusText, headers }), url.href)
  } catch (error) {
    body.destroy()
    throw toNetworkError(error, true)
  }
}
