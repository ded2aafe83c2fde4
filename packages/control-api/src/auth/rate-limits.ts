/**
 * Counts requests by name: as many a minute as are allowed, and as many at once (a token bucket). Each
 * process counts for itself.
 */
import type { Clock } from '@tutti/core'

const MINUTE_MS = 60_000

/** Names that are remembered at most; the one that was away longest is forgotten first. */
const MAX_NAMES = 10_000

interface Bucket {
  /** What is left. */
  tokens: number
  /** When that was, in milliseconds of the clock. */
  at: number
}

/** Counts the requests of many callers. */
export class RateLimits {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #buckets = new Map<string, Bucket>()

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
  }

  /** Callers that are remembered. */
  get size(): number {
    return this.#buckets.size
  }

  /**
   * Counts one request under a name of which `perMinute` are allowed; gives how long to wait when it is
   * one too many, in milliseconds, else 0. A request that is refused does not count.
   */
  take(name: string, perMinute: number): number {
    const at = this.#clock.elapsed()
    const perMs = perMinute / MINUTE_MS
    // At least one at once, or nothing would ever pass.
    const most = Math.max(perMinute, 1)
    const earlier = this.#buckets.get(name) ?? { tokens: most, at }
    const tokens = Math.min(most, earlier.tokens + (at - earlier.at) * perMs)
    const passes = tokens >= 1
    this.#buckets.delete(name)
    this.#buckets.set(name, { tokens: passes ? tokens - 1 : tokens, at })
    this.#forget()
    return passes ? 0 : Math.ceil((1 - tokens) / perMs)
  }

  /** A map keeps its order, and a name that is used comes last. */
  #forget(): void {
    if (this.#buckets.size <= MAX_NAMES) return
    const [oldest] = this.#buckets.keys()
    if (oldest !== undefined) this.#buckets.delete(oldest)
  }
}
