/** Keys: how they are made, kept and recognised. */
import { createHash, timingSafeEqual } from 'node:crypto'

import { TuttiError, type Clock } from '@tutti/core'

import type { Caller } from '@tutti/gateway'
import type { RateLimits } from './rate-limits.ts'
import type { Scope } from '@tutti/protocol'
import type { Quota } from '@tutti/runs'

/** A key, as the server knows it. */
export interface ApiKey {
  /** Name of its holder in runs, events and the audit trail. */
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly sha256: string
  /** Scopes of its holder. @default everything but `admin` */
  readonly scopes?: readonly Scope[]
  /** Roles of its holder: a review that requires a role is decided only by a key that has it. @default [] */
  readonly roles?: readonly string[]
  /** Time from which it is refused, in milliseconds since 1970. @default never */
  readonly expiresAt?: number
  readonly limits?: KeyLimits
}

/** Limits of one key. */
export interface KeyLimits {
  /** Runs of it that have not ended. @default no limit */
  readonly maxUnfinishedRuns?: number
  /** Requests and messages a minute. @default no limit */
  readonly requestsPerMinute?: number
  /** What its runs may cost within 24 hours, in US dollars; a run is refused when that is reached. @default no limit */
  readonly maxCostUsdPerDay?: number
}

/** Scopes of a key that names none: all but `admin`. */
export const DEFAULT_SCOPES: readonly Scope[] = [
  'runs:read',
  'runs:write',
  'runs:control',
  'reviews:decide',
  'tools:invoke',
]

/** The entry under which a server knows `key`; it does not hold the key itself. */
export function apiKey(key: string, entry: Omit<ApiKey, 'sha256'>): ApiKey {
  return { ...entry, sha256: hashKey(key).toString('hex') }
}

/**
 * Finds whose key it is. Every known key is compared, in constant time, so that the time taken tells nothing.
 *
 * @throws {TuttiError} UNAUTHORIZED for a key that is unknown or expired.
 */
export function createKeyLookup(keys: readonly ApiKey[]): (given: string, now: number) => ApiKey {
  const known = keys.map((entry) => ({ entry, hash: Buffer.from(entry.sha256, 'hex') }))
  return (given, now) => {
    const hash = hashKey(given)
    const matches = known.map((key) => timingSafeEqual(key.hash, hash))
    const found = known[matches.indexOf(true)]
    if (found === undefined) {
      throw new TuttiError('UNAUTHORIZED', 'This key is not known to the server')
    }
    const { expiresAt = Infinity, name } = found.entry
    if (now >= expiresAt) throw new TuttiError('UNAUTHORIZED', `Key "${name}" has expired`)
    return found.entry
  }
}

/** How long the spending of a key counts, in milliseconds. */
const DAY_MS = 24 * 3_600_000

/** What a caller is made of, beside its key. */
export interface CallerParts {
  readonly remoteAddress: string | undefined
  readonly clock: Pick<Clock, 'now'>
  /** Counts the requests of all keys. */
  readonly rates: RateLimits
}

/** The holder of a key as a caller. */
export function createCaller(key: ApiKey, { remoteAddress, clock, rates }: CallerParts): Caller {
  const { name, scopes = DEFAULT_SCOPES, roles = [], expiresAt = Infinity, limits = {} } = key
  return {
    name,
    scopes: new Set(scopes),
    roles: new Set(roles),
    remoteAddress,
    expiresAt,
    quota: () => toQuota(key, clock.now()),
    count: () => {
      if (clock.now() >= expiresAt)
        throw new TuttiError('UNAUTHORIZED', `Key "${name}" has expired`)
      const { requestsPerMinute } = limits
      if (requestsPerMinute === undefined) return
      const retryAfterMs = rates.take(name, requestsPerMinute)
      if (retryAfterMs === 0) return
      throw new TuttiError(
        'RATE_LIMITED',
        `Key "${name}" may make ${requestsPerMinute} requests a minute, and has made them`,
        { retryable: true, details: { retryAfterMs, reason: 'requests_of_key' } },
      )
    },
  }
}

function toQuota({ name, limits = {} }: ApiKey, now: number): Quota | undefined {
  const { maxUnfinishedRuns, maxCostUsdPerDay } = limits
  if (maxUnfinishedRuns === undefined && maxCostUsdPerDay === undefined) return undefined
  return {
    actor: name,
    ...(maxUnfinishedRuns === undefined ? {} : { maxUnfinishedRuns }),
    ...(maxCostUsdPerDay === undefined
      ? {}
      : { spend: { maxCostUsd: maxCostUsdPerDay, since: now - DAY_MS } }),
  }
}

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
