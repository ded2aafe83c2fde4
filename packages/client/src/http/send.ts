/** Sends requests, and maps failures of the network to CONNECTION_FAILED. */
import { TuttiClientError } from '../errors.ts'

import type { CallScope } from '../call-scope.ts'
import type { ResolvedClientOptions } from '../options.ts'

export interface RouteRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** As `routePath` returns it. */
  readonly path: string
  /** Parameters that are undefined are omitted. */
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Sent as JSON, unless undefined. */
  readonly body?: unknown
  /** With names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request and returns its response with any status, before its body is read. */
export function send(
  { baseUrl, headers, fetch }: ResolvedClientOptions,
  request: RouteRequest,
  scope: CallScope,
): Promise<Response> {
  const { method, path, query = {}, body } = request
  const init: RequestInit = {
    method,
    headers: {
      accept: 'application/json',
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    signal: scope.signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
  return overNetwork(request, () => {
    scope.signal.throwIfAborted()
    return scope.race(fetch(baseUrl + path + toQueryString(query), init))
  })
}

/** Reads the body of a response as text. */
export function readBodyText(
  response: Response,
  request: RouteRequest,
  scope: CallScope,
): Promise<string> {
  return overNetwork(request, () => scope.race(response.text()))
}

/**
 * Awaits a transfer.
 *
 * @throws {TuttiClientError} CONNECTION_FAILED for any failure that is not a client error.
 */
export async function overNetwork<T>(
  { method, path }: RouteRequest,
  transfer: () => Promise<T>,
): Promise<T> {
  try {
    return await transfer()
  } catch (error) {
    if (TuttiClientError.isInstance(error)) throw error
    const message = `${method} ${path} failed: ${describeFailure(error)}`
    throw new TuttiClientError('CONNECTION_FAILED', message, { cause: error })
  }
}

/** Returns the query of a URL, empty or with `?`; parameters that are undefined are omitted. */
export function toQueryString(
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  return parameters.size === 0 ? '' : `?${parameters}`
}

/** Returns the reason of a failure: `fetch` throws "fetch failed" with the reason in its cause. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  if (!(cause instanceof Error)) return message
  const code = 'code' in cause ? String(cause.code) : cause.name
  return `${message} (${cause.message === '' ? code : cause.message})`
}
