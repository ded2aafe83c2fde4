/**
 * Limits requests per minute with one token bucket per name. A full bucket holds the requests of one minute. Each
 * process has its own buckets.
 */
import type { Clock } from '@tutti/core'
import { BoundedMap } from '@tutti/core/internal'

const MINUTE_MS = 60_000

/** Maximum number of buckets; the least recently used one is deleted first. */
const MAX_NAMES = 10_000

interface Bucket {
  tokens: number
  /** Time at which the bucket held `tokens`, in milliseconds of the monotonic clock. */
  at: number
}

/** Token buckets of many callers. */
export class RateLimits {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #buckets = new BoundedMap<string, Bucket>(MAX_NAMES)

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
  }

  /** Number of buckets. */
  get size(): number {
    return this.#buckets.size
  }

  /**
   * Takes one token from the bucket of a name. Returns 0 if the request is allowed, otherwise the time to wait in
   * milliseconds. Refused requests take no token.
   */
  take(name: string, perMinute: number): number {
    const at = this.#clock.elapsed()
    const perMs = perMinute / MINUTE_MS
    // A bucket below 1 would never allow a request.
    const most = Math.max(perMinute, 1)
    const earlier = this.#buckets.get(name) ?? { tokens: most, at }
    const tokens = Math.min(most, earlier.tokens + (at - earlier.at) * perMs)
    const passes = tokens >= 1
    this.#buckets.set(name, { tokens: passes ? tokens - 1 : tokens, at })
    return passes ? 0 : Math.ceil((1 - tokens) / perMs)
  }
}
