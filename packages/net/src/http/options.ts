/** The options of a guarded request, with their defaults and checks. */
import { systemClock, TuttiError, type Clock } from '@tutti/core'
import { ACCEPTED_CODINGS } from './decompress.ts'
import { findHeaderProblems } from './header-rules.ts'

import type { HttpConnections } from './connections.ts'
import type { NetworkGuard } from './network-guard.ts'

/** A guarded request: over a connection of its own, or over those of a pool. */
export type GuardedRequestOptions = RequestSettings &
  (
    | {
        /** Decides where the request may go. */
        readonly guard: NetworkGuard
      }
    | { readonly connections: HttpConnections }
  )

/** How a request is made. */
export interface RequestSettings {
  /** @default GET */
  readonly method?: string
  /**
   * Headers by name, in any case. Those of the connection and of the length of the body are not among
   * them. `accept-encoding` is there unless it is set.
   */
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array
  /** Aborts the request; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Whether redirects are followed, or are the answer. @default follow */
  readonly redirect?: 'follow' | 'manual'
  /** Redirects that are followed, at most. @default 10 */
  readonly maxRedirects?: number
  /** Bytes of the body that are kept, counted after decompression. @default 1048576 */
  readonly maxBytes?: number
  /** Limit of the whole, in milliseconds: look-ups, connections, redirects and the body. @default 15000 */
  readonly timeoutMs?: number
  /** Limit until the connection of each hop is there, in milliseconds. @default timeoutMs alone */
  readonly connectTimeoutMs?: number
  /** @default the clock of the system */
  readonly clock?: Clock
}

/** Options with nothing left out. */
export interface ResolvedRequestOptions extends Required<Omit<RequestSettings, 'signal' | 'body'>> {
  readonly body: Uint8Array | undefined
  readonly signal: AbortSignal | undefined
}

const DEFAULTS = {
  // The longest chains on the web are half of it: http to https, without www to with, language, log-in.
  maxRedirects: 10,
  // As AgentEnsemble's HTTP tool.
  maxBytes: 1_048_576,
  // Half of what a tool call may take.
  timeoutMs: 15_000,
} as const

/** Methods that do something else than ask for an answer. */
const NOT_A_REQUEST: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

/**
 * Fills in the defaults.
 *
 * @throws {RangeError} naming every limit that does not fit.
 * @throws {TuttiError} TOOL_FAILED for a method or header that cannot be sent.
 */
export function resolveRequestOptions(options: RequestSettings): ResolvedRequestOptions {
  const settled = { ...DEFAULTS, connectTimeoutMs: Infinity, ...options }
  assertLimits(settled)
  const method = (options.method ?? 'GET').toUpperCase()
  if (NOT_A_REQUEST.has(method)) {
    throw new TuttiError('TOOL_FAILED', `Cannot make a request with the method "${method}"`)
  }
  const body =
    typeof options.body === 'string' ? new TextEncoder().encode(options.body) : options.body
  return {
    ...settled,
    clock: options.clock ?? systemClock,
    redirect: options.redirect ?? 'follow',
    signal: options.signal,
    method,
    headers: headersOf(options.headers ?? {}),
    body,
  }
}

function headersOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
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
  ]
  if (problems.length > 0) throw new RangeError(`Cannot make a request: ${problems.join('; ')}`)
}
