/** Options of guarded requests, with their defaults and checks. */
import { systemClock, TuttiError, type Clock } from '@tutti/core'
import { findExcessProblems } from '@tutti/core/internal'
import { ACCEPTED_CODINGS } from './decompress.ts'
import { findHeaderProblems } from './header-rules.ts'

import type { HttpConnections } from './connections.ts'
import type { NetworkGuard } from './network-guard.ts'

/** Options of a guarded request, which uses its own connection (`guard`) or a pool (`connections`). */
export type GuardedRequestOptions = RequestSettings &
  (
    | {
        /** Decides where the request may go. */
        readonly guard: NetworkGuard
      }
    | { readonly connections: HttpConnections }
  )

export interface RequestSettings {
  /** @default GET */
  readonly method?: string
  /**
   * Headers by name, in any case. Headers of the connection and `content-length` cannot be set.
   * @default accept-encoding for gzip and br
   */
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array
  /** Aborts the request; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Whether redirects are followed or returned as the response. @default follow */
  readonly redirect?: 'follow' | 'manual'
  /** Maximum number of redirects to follow. @default 10 */
  readonly maxRedirects?: number
  /** Maximum number of bytes of the body to read, counted after decompression. @default 1048576 */
  readonly maxBytes?: number
  /** Time limit of the whole request, in milliseconds, including redirects and the body. @default 15000 */
  readonly timeoutMs?: number
  /** Time limit for the connection of each hop, in milliseconds. @default none besides timeoutMs */
  readonly connectTimeoutMs?: number
  /** @default the system's clock */
  readonly clock?: Clock
}

/** {@link RequestSettings} with their defaults. */
export interface ResolvedRequestOptions extends Required<Omit<RequestSettings, 'signal' | 'body'>> {
  readonly body: Uint8Array | undefined
  readonly signal: AbortSignal | undefined
}

const DEFAULTS = {
  // Twice the longest chains on the web: http to https, adding www, language, login.
  maxRedirects: 10,
  // Far more than a model can take in.
  maxBytes: 1_048_576,
  // Half of the default time limit of a tool call.
  timeoutMs: 15_000,
} as const

/** Methods that are not requests for a resource. */
const NOT_A_REQUEST: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

/**
 * Fills in the defaults.
 *
 * @throws {RangeError} naming every invalid limit.
 * @throws {TuttiError} TOOL_FAILED for a method or header that cannot be sent.
 */
export function resolveRequestOptions(options: RequestSettings): ResolvedRequestOptions {
  const resolved = { ...DEFAULTS, connectTimeoutMs: Infinity, ...options }
  assertLimits(resolved)
  const method = (options.method ?? 'GET').toUpperCase()
  if (NOT_A_REQUEST.has(method)) {
    throw new TuttiError('TOOL_FAILED', `The method "${method}" is not allowed`)
  }
  const body =
    typeof options.body === 'string' ? new TextEncoder().encode(options.body) : options.body
  return {
    ...resolved,
    clock: options.clock ?? systemClock,
    redirect: options.redirect ?? 'follow',
    signal: options.signal,
    method,
    headers: resolveHeaders(options.headers ?? {}),
    body,
  }
}

function resolveHeaders(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const problems = findHeaderProblems(given)
  if (problems.length > 0) {
    throw new TuttiError('TOOL_FAILED', `Cannot make a request: ${problems.join('; ')}`)
  }
  const named = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const)
  return { 'accept-encoding': ACCEPTED_CODINGS, ...Object.fromEntries(named) }
}

function assertLimits(
  limits: Record<'maxRedirects' | 'maxBytes' | 'timeoutMs' | 'connectTimeoutMs', number>,
): void {
  const { maxRedirects, maxBytes, timeoutMs, connectTimeoutMs } = limits
  const problems = [
    ...Object.entries({ maxRedirects, maxBytes })
      .filter(([, limit]) => !(Number.isInteger(limit) && limit >= 0))
      .map(([name, limit]) => `${name} must be an integer >= 0, got ${limit}`),
    ...Object.entries({ timeoutMs, connectTimeoutMs })
      .filter(([, limit]) => !(limit > 0))
      .map(([name, limit]) => `${name} must be > 0, got ${limit}`),
    ...findExcessProblems({ maxRedirects, maxBytes, timeoutMs, connectTimeoutMs }),
  ]
  if (problems.length > 0) throw new RangeError(`Cannot make a request: ${problems.join('; ')}`)
}
