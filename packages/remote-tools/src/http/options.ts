/** What the author of an HTTP tool writes about its requests, with the defaults and the checks. */
import {
  definitionError,
  findUnknownOptions,
  systemClock,
  type Clock,
  type OptionNames,
  type ToolContext,
} from '@tutti/core'
import {
  findHeaderProblems,
  guardAround,
  networkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
} from '@tutti/net'

import {
  isIdempotent,
  resolveRetryOptions,
  retryProblems,
  type ResolvedRetryOptions,
  type RetryOptions,
} from './retries.ts'
import { readUrlTemplate, type UrlTemplate } from './url-template.ts'

/** Headers of a request, by name. */
export type HeaderRecord = Readonly<Record<string, string>>

/** Gives the headers of one call, such as a token that expires. What it throws fails the call. */
export type HeaderSource = (context: ToolContext) => HeaderRecord | Promise<HeaderRecord>

/** How the requests of a tool are made. */
export interface HttpOptions {
  /**
   * Where they go: an http or https URL. Of a typed tool it may have places for fields of the input,
   * such as `https://api.example.com/users/{id}`. A place in the host, or `{url}` alone, lets the model
   * say where the request goes; that needs a `guard`.
   */
  readonly url: string | URL
  /** @default POST */
  readonly method?: string
  /** Sent with each request, or a function that gives them for each call. They win over all others. */
  readonly headers?: HeaderRecord | HeaderSource
  /** Bytes of an answer that are kept, counted after decompression. @default 1048576 */
  readonly maxResponseBytes?: number
  /** Redirects that are followed, at most. @default 0: a redirect is the answer */
  readonly redirects?: number
  /** Makes failed requests again. @default never */
  readonly retries?: RetryOptions
  /** Name of a header that is sent with the idempotency key of the call, such as `Idempotency-Key`. */
  readonly idempotencyKeyHeader?: string
  /** Whether a request may be made twice. @default by its method: all but POST and PATCH */
  readonly idempotent?: boolean
  /**
   * Keeps every request on the public internet, and on what it allows besides. @default what the
   * author wrote as `url` is trusted, and only redirects are guarded
   */
  readonly guard?: NetworkGuard | NetworkGuardOptions
  /** @default the system's clock */
  readonly clock?: Clock
}

/** The options of the requests of an HTTP tool. */
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

/** {@link HttpOptions} with every default filled in. */
export interface ResolvedHttpOptions {
  readonly template: UrlTemplate
  readonly method: string
  /** With names in lower case, or a function that gives them as they are. */
  readonly headers: HeaderRecord | HeaderSource
  readonly maxResponseBytes: number
  readonly redirects: number
  readonly retries: ResolvedRetryOptions
  readonly idempotencyKeyHeader: string | undefined
  readonly idempotent: boolean
  readonly guard: NetworkGuard
  readonly clock: Clock
}

/** As AgentEnsemble's HTTP tool. */
const DEFAULT_MAX_RESPONSE_BYTES = 1_048_576

/** Methods that do not ask for an answer to one request. */
const NOT_A_REQUEST: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

/** What else the checks need to know. */
export interface HttpToolKind {
  readonly name: string
  /** Whether the URL may have places for fields of the input. */
  readonly isTyped: boolean
  /** The options that the tool has. @default those of its requests */
  readonly optionNames?: Readonly<Record<string, true>>
}

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} naming every option that does not fit.
 */
export function resolveHttpOptions(
  options: HttpOptions,
  { name, isTyped, optionNames = HTTP_OPTION_NAMES }: HttpToolKind,
): ResolvedHttpOptions {
  const method = (options.method ?? 'POST').toUpperCase()
  const idempotent =
    options.idempotent ?? (isIdempotent(method) || options.idempotencyKeyHeader !== undefined)
  const read = readUrlTemplate(String(options.url), { allowPlaces: isTyped })
  const problems = [
    ...findUnknownOptions(options, optionNames),
    ...(read.ok ? originProblems(read.template, options) : [read.problem]),
    ...requestProblems(options, method),
    ...limitProblems(options),
    ...retryProblems(options.retries, { method, idempotent }),
  ]
  if (problems.length > 0 || !read.ok) {
    throw definitionError(`Cannot define HTTP tool ${JSON.stringify(name)}: ${problems.join('; ')}`)
  }
  return {
    template: read.template,
    method,
    headers: settledHeaders(options.headers),
    maxResponseBytes: options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
    redirects: options.redirects ?? 0,
    retries: resolveRetryOptions(options.retries),
    idempotencyKeyHeader: options.idempotencyKeyHeader,
    idempotent,
    guard: guardOf(options, read.template),
    clock: options.clock ?? systemClock,
  }
}

function settledHeaders(headers: HttpOptions['headers'] = {}): HeaderRecord | HeaderSource {
  if (typeof headers === 'function') return headers
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
}

/** The guard that was given, or one that trusts the place that the author wrote and no other. */
function guardOf({ guard }: HttpOptions, { fixedOrigin }: UrlTemplate): NetworkGuard {
  if (guard !== undefined) return 'assertUrl' in guard ? guard : networkGuard(guard)
  if (fixedOrigin === undefined) return networkGuard()
  return guardAround(new URL(fixedOrigin))
}

function originProblems({ fixedOrigin }: UrlTemplate, { guard }: HttpOptions): readonly string[] {
  if (fixedOrigin !== undefined || guard !== undefined) return []
  return [
    'url lets the model say where the request goes: set guard, such as { allow: [] } for the public internet',
  ]
}

function requestProblems(options: HttpOptions, method: string): readonly string[] {
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

function limitProblems({ maxResponseBytes = 1, redirects = 0 }: HttpOptions): readonly string[] {
  const problems: string[] = []
  if (!Number.isInteger(maxResponseBytes) || maxResponseBytes < 1) {
    problems.push(`maxResponseBytes must be an integer >= 1, got ${String(maxResponseBytes)}`)
  }
  if (!Number.isInteger(redirects) || redirects < 0) {
    problems.push(`redirects must be an integer >= 0, got ${String(redirects)}`)
  }
  return problems
}
