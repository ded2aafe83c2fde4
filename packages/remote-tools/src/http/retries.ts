/**
 * When a request is made again, and how long to wait before. Pure.
 *
 * T1 Only what may be made twice is made again: by its method, or by the author's word.
 * T2 `Retry-After` is the wait when the server gives one, in seconds or as a date; otherwise the wait
 *    doubles with each attempt, with half of it left to chance, so that clients do not return together.
 * T3 A wait that would outlast the call is not begun: the failure is the answer.
 */

import { findUnknownOptions, type OptionNames } from '@tutti/core'
import { readRetryAfter } from '@tutti/net'

/** Why a request may be made again: a status, or no answer at all. */
export type RetryReason = number | 'network'

/** Which requests are made again, and when. */
export interface RetryOptions {
  /** Attempts after the first, at most. */
  readonly max: number
  /** @default 429, 502, 503, 504 and 'network', which is no answer at all */
  readonly on?: readonly RetryReason[]
  /** Wait before the second attempt, in milliseconds; it doubles with each. @default 500 */
  readonly firstDelayMs?: number
  /** Longest wait that the tool chooses, in milliseconds; a server may ask for more. @default 10000 */
  readonly maxDelayMs?: number
}

const RETRY_OPTION_NAMES = {
  max: true,
  on: true,
  firstDelayMs: true,
  maxDelayMs: true,
} as const satisfies OptionNames<RetryOptions>

/** {@link RetryOptions} with every default filled in. */
export interface ResolvedRetryOptions {
  readonly max: number
  readonly on: ReadonlySet<RetryReason>
  readonly firstDelayMs: number
  readonly maxDelayMs: number
}

const DEFAULTS = {
  // The statuses that say "later", and what a proxy says of a server that is starting anew.
  on: [429, 502, 503, 504, 'network'],
  // Long enough for a connection to be there again.
  firstDelayMs: 500,
  // A third of the time of a call.
  maxDelayMs: 10_000,
} as const

/** Fills in the defaults; without options nothing is made again. */
export function resolveRetryOptions(options: RetryOptions = { max: 0 }): ResolvedRetryOptions {
  const settled = { ...DEFAULTS, ...options }
  return { ...settled, on: new Set<RetryReason>(settled.on) }
}

/** Methods that mean the same when they are sent twice. @see https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2 */
const IDEMPOTENT: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'PUT',
  'DELETE',
  'QUERY',
])

/** Whether a request of this method may be made twice. */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method)
}

/** What is wrong with the options of a tool. */
export function retryProblems(
  options: RetryOptions | undefined,
  { method, idempotent }: { readonly method: string; readonly idempotent: boolean },
): readonly string[] {
  if (options === undefined) return []
  const { max, on = [], firstDelayMs = 0, maxDelayMs = 0 } = options
  const problems = [...findUnknownOptions(options, RETRY_OPTION_NAMES, 'retries')]
  if (!Number.isInteger(max) || max < 0) {
    problems.push(`retries.max must be an integer >= 0, got ${String(max)}`)
  }
  const wrong = on.filter((reason) => reason !== 'network' && !(reason >= 400 && reason <= 599))
  if (wrong.length > 0) {
    problems.push(
      `retries.on must be statuses from 400 to 599 or 'network', got ${wrong.join(', ')}`,
    )
  }
  for (const [name, delayMs] of Object.entries({ firstDelayMs, maxDelayMs })) {
    if (!(delayMs >= 0)) problems.push(`retries.${name} must be >= 0, got ${String(delayMs)}`)
  }
  if (max > 0 && !idempotent) {
    problems.push(
      `retries would make a ${method} request twice: set idempotent to true if that does no harm`,
    )
  }
  return problems
}

/** What is known when an attempt has failed. */
export interface FailedAttempt {
  readonly reason: RetryReason
  /** Attempts so far, from 1. */
  readonly attempts: number
  /** The `Retry-After` of the answer. */
  readonly retryAfter?: string | null
  /** Instant, in milliseconds since 1970. */
  readonly now: number
  /** Time that the call has left, in milliseconds. */
  readonly leftMs: number
  /** From 0 up to 1. */
  readonly chance: number
}

/** How long to wait before the next attempt, in milliseconds; undefined when there is none. */
export function retryDelayMs(
  { reason, attempts, retryAfter, now, leftMs, chance }: FailedAttempt,
  { max, on, firstDelayMs, maxDelayMs }: ResolvedRetryOptions,
): number | undefined {
  if (attempts > max || !on.has(reason)) return undefined
  const chosen = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempts - 1)) * (0.5 + chance / 2)
  const delayMs = readRetryAfter(retryAfter, now) ?? chosen
  return delayMs < leftMs ? delayMs : undefined
}
