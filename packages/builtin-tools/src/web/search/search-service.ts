/**
 * Sends requests to search services over HTTP.
 *
 * TOOLS-S1 Errors never contain the API key, even if their text comes from the service.
 * TOOLS-S2 The host of the service is allowed even if it is private, because the author configured it. Redirects are
 *    not followed: the services do not use them, and they would send the query elsewhere.
 */
import { errorMessage, findExcessProblems } from '@tutti/core/internal'
import { guardAround, guardedRequest } from '@tutti/net/internal'

import { readServiceResponse } from './service-answer.ts'

export interface SearchServiceOptions {
  /** API key of the service. */
  readonly apiKey: string
  /** URL of the service, for example of your own proxy. @default that of the service */
  readonly baseUrl?: string
  /** Time limit of a search, in milliseconds. @default 15000 */
  readonly timeoutMs?: number
}

export interface SearchService {
  /** Resolves with the JSON value of the response; rejects with the reason of the service. */
  ask(request: ServiceRequest): Promise<unknown>
}

export interface ServiceRequest {
  /** Path relative to the base URL. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Body, sent as JSON with POST; without it, the request is a GET. */
  readonly body?: object
  readonly signal: AbortSignal
}

/** Name and URL of a known service. */
export interface KnownService {
  readonly name: string
  readonly baseUrl: string
}

/** Time limit of a request, in milliseconds. */
const TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 10_000

/** Maximum size of a response, in bytes; responses usually have some 10 kB. */
const MAX_BYTES = 2 * 1_048_576

/**
 * Creates a service.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function searchService(known: KnownService, options: SearchServiceOptions): SearchService {
  const { apiKey, timeoutMs = TIMEOUT_MS } = options
  const base = resolveBase(known, options)
  const guard = guardAround(base)
  const limits = { timeoutMs, connectTimeoutMs: CONNECT_TIMEOUT_MS, maxBytes: MAX_BYTES }
  const sendRequest = async ({
    path,
    query = {},
    signal,
    ...request
  }: ServiceRequest): Promise<unknown> => {
    const url = new URL(path, base)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const sent = {
      guard,
      signal,
      redirect: 'manual',
      ...limits,
      ...toHttpRequest(request),
    } as const
    return readServiceResponse(await guardedRequest(url, sent), known.name)
  }
  return {
    ask: (request) =>
      sendRequest(request).catch((error: unknown) => {
        // The cause is dropped because it may contain the key.
        throw new Error(removeKey(errorMessage(error), apiKey))
      }),
  }
}

function resolveBase({ name, baseUrl: known }: KnownService, options: SearchServiceOptions): URL {
  const { apiKey, baseUrl = known, timeoutMs = TIMEOUT_MS } = options
  // The path of the base URL counts as a directory.
  const base = URL.parse(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
  const isHttp = base !== null && /^https?:$/.test(base.protocol)
  const problems = [
    typeof apiKey === 'string' && apiKey.trim() !== '' ? '' : 'apiKey must not be blank',
    isHttp ? '' : `baseUrl must be an http or https URL, got ${JSON.stringify(baseUrl)}`,
    timeoutMs > 0 ? '' : `timeoutMs must be > 0, got ${timeoutMs}`,
    ...findExcessProblems({ timeoutMs }),
  ].filter((problem) => problem !== '')
  if (base !== null && problems.length === 0) return base
  throw new TypeError(`Cannot use ${name}: ${problems.join('; ')}`)
}

function toHttpRequest({ headers, body }: Pick<ServiceRequest, 'headers' | 'body'>): {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
} {
  const all = { accept: 'application/json', ...headers }
  if (body === undefined) return { method: 'GET', headers: all }
  return {
    method: 'POST',
    headers: { ...all, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function removeKey(text: string, apiKey: string): string {
  return [apiKey, encodeURIComponent(apiKey)].reduce(
    (clean, key) => clean.replaceAll(key, '[API key]'),
    text,
  )
}
