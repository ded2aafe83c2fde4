/** API keys: their hashes, their lookup and the callers that they identify. */
import { createHash, timingSafeEqual } from 'node:crypto'

import { TuttiError, type Clock } from '@tutti/core'

import type { Caller } from '@tutti/gateway/internal'
import type { RateLimits } from './rate-limits.ts'
import type { Scope } from '@tutti/protocol'
import type { RunPriority } from '@tutti/protocol/internal'
import type { Quota } from '@tutti/runs/adapter'

/** An API key as the server knows it: its hash and its rights. */
export interface ApiKey {
  /** Name of the caller in runs, events and the audit trail. */
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly sha256: string
  /** Scopes of the key. @default all except `admin` */
  readonly scopes?: readonly Scope[]
  /** Roles of the key. Only a key with the required role may decide a review that requires one. @default [] */
  readonly roles?: readonly string[]
  /** Time at which the key expires, in milliseconds since 1970. @default never */
  readonly expiresAt?: number
  /** Limits of the key. @default none */
  readonly limits?: KeyLimits
}

/** Limits of an API key. */
export interface KeyLimits {
  /** Maximum number of unfinished runs. @default no limit */
  readonly maxUnfinishedRuns?: number
  /** Maximum number of requests and messages per minute. @default no limit */
  readonly requestsPerMinute?: number
  /** Maximum cost of its runs within 24 hours, in US dollars; then new runs are refused. @default no limit */
  readonly maxCostUsdPerDay?: number
  /**
   * Highest priority of its runs. Without a priority, its runs have the normal one, or this one if it is lower.
   * @default 'high'
   */
  readonly maxPriority?: RunPriority
}

/** Scopes of a key without `scopes`: all except `admin`. */
export const DEFAULT_SCOPES: readonly Scope[] = [
  'runs:read',
  'runs:write',
  'runs:control',
  'reviews:decide',
  'events:send',
  'tools:invoke',
]

/** Returns the entry for a key. It holds the hash of the key, not the key itself. */
export function apiKey(key: string, entry: Omit<ApiKey, 'sha256'>): ApiKey {
  return { ...entry, sha256: hashKey(key).toString('hex') }
}

/**
 * Returns a function that finds the entry of a key. It compares the key with every known one in constant time, so that
 * its duration reveals nothing.
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
      throw new TuttiError('UNAUTHORIZED', 'Unknown key')
    }
    const { expiresAt = Infinity, name } = found.entry
    if (now >= expiresAt) throw new TuttiError('UNAUTHORIZED', `Key "${name}" has expired`)
    return found.entry
  }
}

/** Period over which the cost of a key is summed, in milliseconds. */
const DAY_MS = 24 * 3_600_000

/** Parts of a caller in addition to its key. */
export interface CallerParts {
  readonly remoteAddress: string | undefined
  readonly clock: Pick<Clock, 'now'>
  /** Counts the requests of all keys. */
  readonly rates: RateLimits
}

/** Creates the caller that a key identifies. */
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
        `Key "${name}" has reached its limit of ${requestsPerMinute} requests per minute`,
        { retryable: true, details: { retryAfterMs, reason: 'requests_of_key' } },
      )
    },
  }
}

function toQuota({ name, limits = {} }: ApiKey, now: number): Quota | undefined {
  const { maxUnfinishedRuns, maxCostUsdPerDay, maxPriority } = limits
  const all = [maxUnfinishedRuns, maxCostUsdPerDay, maxPriority]
  if (all.every((limit) => limit === undefined)) return undefined
  return {
    actor: name,
    ...(maxUnfinishedRuns === undefined ? {} : { maxUnfinishedRuns }),
    ...(maxPriority === undefined ? {} : { maxPriority }),
    ...(maxCostUsdPerDay === undefined
      ? {}
      : { spend: { maxCostUsd: maxCostUsdPerDay, since: now - DAY_MS } }),
  }
}

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
