/**
 * Asking a search service over HTTP.
 *
 * P1 The API key is in no error, whoever wrote its text.
 * P2 The place of the service is allowed, wherever it is: it is set up, and no model chose it. A
 *    redirect is not followed: no service has one, and it would carry the query elsewhere.
 */
import { errorMessage } from '@tutti/core'
import { guardAround, guardedRequest } from '@tutti/net'

import { serviceAnswer } from './service-answer.ts'

/** How to reach a search service. */
export interface SearchServiceOptions {
  /** Says who searches and who pays. */
  readonly apiKey: string
  /** Where the service is, such as a proxy of your own. @default the service itself */
  readonly baseUrl?: string
  /** Limit of a search, in milliseconds. @default 15000 */
  readonly timeoutMs?: number
}

/** A service that can be asked. */
export interface SearchService {
  /** The value in the answer; rejects with the service's reason. */
  ask(request: ServiceRequest): Promise<unknown>
}

/** One question. */
export interface ServiceRequest {
  /** Relative to the base URL. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, with POST; without it, it is a GET. */
  readonly body?: object
  readonly signal: AbortSignal
}

/** What is known of a service. */
export interface KnownService {
  readonly name: string
  readonly baseUrl: string
}

/** As in AgentEnsemble. */
const TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 10_000

/** Answers have some 10 kB. */
const MAX_BYTES = 2 * 1_048_576

/**
 * Makes a service.
 *
 * @throws {TypeError} naming every option that does not fit.
 */
export function searchService(known: KnownService, options: SearchServiceOptions): SearchService {
  const { apiKey, timeoutMs = TIMEOUT_MS } = options
  const base = baseOf(known, options)
  const guard = guardAround(base)
  const limits = { timeoutMs, connectTimeoutMs: CONNECT_TIMEOUT_MS, maxBytes: MAX_BYTES }
  const answerTo = async ({
    path,
    query = {},
    signal,
    ...request
  }: ServiceRequest): Promise<unknown> => {
    const url = new URL(path, base)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const sent = { guard, signal, redirect: 'manual', ...limits, ...httpRequest(request) } as const
    return serviceAnswer(await guardedRequest(url, sent), known.name)
  }
  return {
    ask: (request) =>
      answerTo(request).catch((error: unknown) => {
        // The cause stays behind: the key may be in it.
        throw new Error(withoutKey(errorMessage(error), apiKey))
      }),
  }
}

function baseOf({ name, baseUrl: known }: KnownService, options: SearchServiceOptions): URL {
  const { apiKey, baseUrl = known, timeoutMs = TIMEOUT_MS } = options
  // The path of a base counts as a folder.
  const base = URL.parse(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
  const isHttp = base !== null && /^https?:$/.test(base.protocol)
  const problems = [
    typeof apiKey === 'string' && apiKey.trim() !== '' ? '' : 'apiKey must not be blank',
    isHttp ? '' : `baseUrl must be an http or https URL, got ${JSON.stringify(baseUrl)}`,
    timeoutMs > 0 ? '' : `timeoutMs must be > 0, got ${timeoutMs}`,
  ].filter((problem) => problem !== '')
  if (base !== null && problems.length === 0) return base
  throw new TypeError(`Cannot use ${name}: ${problems.join('; ')}`)
}

function httpRequest({ headers, body }: Pick<ServiceRequest, 'headers' | 'body'>): {
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

function withoutKey(text: string, apiKey: string): string {
  return [apiKey, encodeURIComponent(apiKey)].reduce(
    (clean, key) => clean.replaceAll(key, '[API key]'),
    text,
  )
}
