/** Options of the requests of HTTP tools, with their defaults and checks. */
import { systemClock, type Clock, type ToolContext } from '@tutti/core'
import { definitionError, findOptionProblems, type OptionNames } from '@tutti/core/internal'
import {
  findHeaderProblems,
  guardAround,
  networkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
} from '@tutti/net/internal'

import {
  isIdempotent,
  resolveRetryOptions,
  findRetryProblems,
  type ResolvedRetryOptions,
  type RetryOptions,
} from './retries.ts'
import { parseUrlTemplate, type UrlTemplate } from './url-template.ts'

/** Headers of a request by name. */
export type HeaderRecord = Readonly<Record<string, string>>

/** Returns the headers of one call, such as a token that expires. An error that it throws fails the call. */
export type HeaderSource = (context: ToolContext) => HeaderRecord | Promise<HeaderRecord>

/** Options of the requests of a tool. */
export interface HttpOptions {
  /**
   * The http or https URL of the endpoint. That of a typed tool may have placeholders for fields of the input, such as
   * `https://api.example.com/users/{id}`. A placeholder in the host, or `{url}` alone, lets the model choose where the
   * request goes, and requires a `guard`.
   */
  readonly url: string | URL
  /** @default POST */
  readonly method?: string
  /** Headers of each request, or a function that returns them for each call. They replace all others. */
  readonly headers?: HeaderRecord | HeaderSource
  /** Maximum number of bytes of a response to read, counted after decompression. @default 1048576 */
  readonly maxResponseBytes?: number
  /** Maximum number of redirects to follow; with 0, a redirect is the response. @default 0 */
  readonly redirects?: number
  /** Retries of failed requests. @default none */
  readonly retries?: RetryOptions
  /** Name of a header that carries the idempotency key of the call, such as `Idempotency-Key`. @default none */
  readonly idempotencyKeyHeader?: string
  /**
   * Whether a request may be sent twice. @default true for GET, HEAD, OPTIONS, PUT, DELETE and
   * QUERY, or with `idempotencyKeyHeader`
   */
  readonly idempotent?: boolean
  /**
   * Restricts requests to the public internet and to the hosts that it allows. @default the host and port of `url` are
   * trusted, and redirects elsewhere are restricted to the public internet
   */
  readonly guard?: NetworkGuard | NetworkGuardOptions
  /** @default the system's clock */
  readonly clock?: Clock
}

/** Names of the {@link HttpOptions}. */
export const HTTP_OPTION_NAMES = {
  url: true,
  method: true,
  headers: true,
  maxResponseBytes: true,
  redirects: true,
  retries: true,
  idempotencyKeyHeader: true,
  idempotent: true,
  guard: true,
  clock: true,
} as const satisfies OptionNames<HttpOptions>

/** {@link HttpOptions} with their defaults. */
export interface ResolvedHttpOptions {
  readonly template: UrlTemplate
  readonly method: string
  /** Headers by lower-case name, or a function that returns them with any case. */
  readonly headers: HeaderRecord | HeaderSource
  readonly maxResponseBytes: number
  readonly redirects: number
  readonly retries: ResolvedRetryOptions
  readonly idempotencyKeyHeader: string | undefined
  readonly idempotent: boolean
  readonly guard: NetworkGuard
  readonly clock: Clock
}

/** Default maximum size of a response, in bytes. */
const DEFAULT_MAX_RESPONSE_BYTES = 1_048_576

/** Methods that are not requests for a resource. */
const NOT_A_REQUEST: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

/** Properties of the tool that the checks need. */
export interface HttpToolKind {
  readonly name: string
  /** Whether the URL may have placeholders for fields of the input. */
  readonly isTyped: boolean
  /** Names of all options of the tool. @default those of {@link HttpOptions} */
  readonly optionNames?: Readonly<Record<string, true>>
}

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function resolveHttpOptions(
  options: HttpOptions,
  { name, isTyped, optionNames = HTTP_OPTION_NAMES }: HttpToolKind,
): ResolvedHttpOptions {
  const method = (options.method ?? 'POST').toUpperCase()
  const idempotent =
    options.idempotent ?? (isIdempotent(method) || options.idempotencyKeyHeader !== undefined)
  const read = parseUrlTemplate(String(options.url), { allowPlaceholders: isTyped })
  const problems = [
    ...findOptionProblems(options, optionNames),
    ...(read.ok ? findOriginProblems(read.template, options) : [read.problem]),
    ...findRequestProblems(options, method),
    ...findLimitProblems(options),
    ...findRetryProblems(options.retries, { method, idempotent }),
  ]
  if (problems.length > 0 || !read.ok) {
    throw definitionError(`Cannot define HTTP tool ${JSON.stringify(name)}: ${problems.join('; ')}`)
  }
  return {
    template: read.template,
    method,
    headers: normalizeHeaders(options.headers),
    maxResponseBytes: options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
    redirects: options.redirects ?? 0,
    retries: resolveRetryOptions(options.retries),
    idempotencyKeyHeader: options.idempotencyKeyHeader,
    idempotent,
    guard: resolveGuard(options, read.template),
    clock: options.clock ?? systemClock,
  }
}

function normalizeHeaders(headers: HttpOptions['headers'] = {}): HeaderRecord | HeaderSource {
  if (typeof headers === 'function') return headers
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
}

/** Returns the guard of the options, or one that trusts only the origin in the author's code. */
function resolveGuard({ guard }: HttpOptions, { fixedOrigin }: UrlTemplate): NetworkGuard {
  if (guard !== undefined) return 'assertUrl' in guard ? guard : networkGuard(guard)
  if (fixedOrigin === undefined) return networkGuard()
  return guardAround(new URL(fixedOrigin))
}

function findOriginProblems(
  { fixedOrigin }: UrlTemplate,
  { guard }: HttpOptions,
): readonly string[] {
  if (fixedOrigin !== undefined || guard !== undefined) return []
  return [
    'url lets the model choose where the request goes: set guard, such as { allow: [] } for the public internet',
  ]
}

function findRequestProblems(options: HttpOptions, method: string): readonly string[] {
  const { headers = {}, idempotencyKeyHeader } = options
  const problems: string[] = []
  if (!/^[A-Z]+$/.test(method) || NOT_A_REQUEST.has(method)) {
    problems.push(`method must be an HTTP method, got ${JSON.stringify(options.method)}`)
  }
  if (typeof headers !== 'function') problems.push(...findHeaderProblems(headers))
  if (idempotencyKeyHeader !== undefined) {
    problems.push(...findHeaderProblems({ [idempotencyKeyHeader]: '' }))
  }
  return problems
}

/** Returns the problems of the limits of a request. */
export function findLimitProblems({
  maxResponseBytes = 1,
  redirects = 0,
}: Pick<HttpOptions, 'maxResponseBytes' | 'redirects'>): readonly string[] {
  const problems: string[] = []
  if (!Number.isInteger(maxResponseBytes) || maxResponseBytes < 1) {
    problems.push(`maxResponseBytes must be an integer >= 1, got ${String(maxResponseBytes)}`)
  }
  if (!Number.isInteger(redirects) || redirects < 0) {
    problems.push(`redirects must be an integer >= 0, got ${String(redirects)}`)
  }
  return problems
}
