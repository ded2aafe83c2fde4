/** Sends one request; a failure of the network becomes CONNECTION_FAILED, and nothing else does. */
import { TuttiClientError } from '../errors.ts'

import type { CallScope } from '../call-scope.ts'
import type { ResolvedClientOptions } from '../options.ts'

/** A request to a route. */
export interface RouteRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** As `routePath` gives it. */
  readonly path: string
  /** Parameters that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Sent as JSON when it is there. */
  readonly body?: unknown
  /** With names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer to a request, its body not yet read, whatever its status. */
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

/** The body of an answer as text. */
export function readBodyText(
  response: Response,
  request: RouteRequest,
  scope: CallScope,
): Promise<string> {
  return overNetwork(request, () => scope.race(response.text()))
}

/**
 * What `transfer` gives.
 *
 * @throws {TuttiClientError} CONNECTION_FAILED for any failure that is not a client error already.
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

/** The query of an address; parameters that are undefined are left out. */
export function toQueryString(
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  return parameters.size === 0 ? '' : `?${parameters}`
}

/** `fetch` says "fetch failed" and keeps the reason in the cause. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  if (!(cause instanceof Error)) return message
  const code = 'code' in cause ? String(cause.code) : cause.name
  return `${message} (${cause.message === '' ? code : cause.message})`
}
