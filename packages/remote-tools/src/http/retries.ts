/**
 * Decides whether a request is retried, and after which delay.
 *
 * REMOTE-T1 Only a request that may be sent twice is retried, as its method or the author says.
 * REMOTE-T2 The delay is `Retry-After` if the server sends it. Otherwise it doubles with each attempt, and half of it
 *    is random, so that clients do not retry at the same time.
 * REMOTE-T3 If the delay would outlast the call, the call fails without waiting.
 */

import { backoffMs, findOptionProblems, type OptionNames } from '@tutti/core/internal'
import { readRetryAfter } from '@tutti/net/internal'

/** Reason for a retry: a status, or `network` if no response arrived. */
export type RetryReason = number | 'network'

export interface RetryOptions {
  /** Maximum number of retries. */
  readonly max: number
  /** Statuses that are retried, and 'network' for requests without a response. @default 429, 502, 503, 504, 'network' */
  readonly on?: readonly RetryReason[]
  /** Delay before the first retry, in milliseconds; it doubles with each retry. @default 500 */
  readonly firstDelayMs?: number
  /** Maximum delay, in milliseconds; a `Retry-After` of the server may exceed it. @default 10000 */
  readonly maxDelayMs?: number
}

const RETRY_OPTION_NAMES = {
  max: true,
  on: true,
  firstDelayMs: true,
  maxDelayMs: true,
} as const satisfies OptionNames<RetryOptions>

/** {@link RetryOptions} with their defaults. */
export interface ResolvedRetryOptions {
  readonly max: number
  readonly on: ReadonlySet<RetryReason>
  readonly firstDelayMs: number
  readonly maxDelayMs: number
}

const DEFAULTS = {
  // Statuses that ask for a later retry, and those that a proxy returns while its server restarts.
  on: [429, 502, 503, 504, 'network'],
  // Long enough for a broken connection to recover.
  firstDelayMs: 500,
  // A third of the default time limit of a call.
  maxDelayMs: 10_000,
} as const

/** Fills in the defaults. Without options, there are no retries. */
export function resolveRetryOptions(options: RetryOptions = { max: 0 }): ResolvedRetryOptions {
  const resolved = { ...DEFAULTS, ...options }
  return { ...resolved, on: new Set<RetryReason>(resolved.on) }
}

/** Idempotent methods. @see https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2 */
const IDEMPOTENT: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'PUT',
  'DELETE',
  'QUERY',
])

/** Returns whether a request of this method may be sent twice. */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method)
}

/** Returns every problem of the retry options. */
export function findRetryProblems(
  options: RetryOptions | undefined,
  { method, idempotent }: { readonly method: string; readonly idempotent: boolean },
): readonly string[] {
  if (options === undefined) return []
  const { max, on = [], firstDelayMs = 0, maxDelayMs = 0 } = options
  const problems = [...findOptionProblems(options, RETRY_OPTION_NAMES, 'retries')]
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
      `retries would send a ${method} request twice: set idempotent to true if that is safe`,
    )
  }
  return problems
}

/** The state after a failed attempt. */
export interface FailedAttempt {
  readonly reason: RetryReason
  /** Number of attempts so far, from 1. */
  readonly attempts: number
  /** The `Retry-After` header of the response. */
  readonly retryAfter?: string | null
  /** Current time, in milliseconds since 1970. */
  readonly now: number
  /** Remaining time of the call, in milliseconds. */
  readonly leftMs: number
  /** Returns a number from 0 up to 1. @default Math.random */
  readonly random?: () => number
}

/** Returns the delay before the next attempt, in milliseconds; undefined for no retry. */
export function decideRetryDelay(
  { reason, attempts, retryAfter, now, leftMs, random = Math.random }: FailedAttempt,
  { max, on, firstDelayMs, maxDelayMs }: ResolvedRetryOptions,
): number | undefined {
  if (attempts > max || !on.has(reason)) return undefined
  const limits = { firstMs: firstDelayMs, maxMs: maxDelayMs, jitter: 0.5, random }
  const delayMs = readRetryAfter(retryAfter, now) ?? backoffMs(attempts - 1, limits)
  return delayMs < leftMs ? delayMs : undefined
}
