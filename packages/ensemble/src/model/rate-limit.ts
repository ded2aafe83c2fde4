/**
 * Limits the rate of model calls with a token bucket: each call takes one token, and tokens arrive evenly.
 *
 * All users of the object share the limit, so it can span tasks, runs and models of one provider.
 * The bucket is represented by a time, `emptyAt`: it holds the tokens that have arrived since then, and each
 * call advances the time by that of one token.
 *
 * ENS-R1 The first call is made at once and later ones as tokens arrive, `requests` in `intervalMs`; at most
 *    `requests` tokens accumulate while no call is made.
 * ENS-R2 Calls are made in the order in which they arrive.
 * ENS-R3 A call whose turn cannot come within `maxWaitMs` fails at once with RATE_LIMIT_TIMEOUT.
 * ENS-R4 A call that is aborted while it waits takes no token, and those behind it move up.
 * ENS-R5 A limit without waiting calls has no timer and no listener on a signal.
 */
import { systemClock, TuttiError, type Clock } from '@tutti/core'
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'

export interface RateLimitOptions {
  /**
   * Number of calls per `intervalMs` in the long run, and of calls that can be made at once after a pause.
   */
  readonly requests: number
  /** Length of the interval in milliseconds. */
  readonly intervalMs: number
  /**
   * Maximum wait for a turn in milliseconds; with 0 a call never waits, with Infinity it waits as long as
   * necessary. @default 30000
   */
  readonly maxWaitMs?: number
}

/** A rate limit that all users of the object share. */
export interface RateLimit extends Required<RateLimitOptions> {
  /**
   * Resolves when a call may be made, with whether it had to wait.
   *
   * Rejects with the reason of the signal if it aborts first, and at once with a {@link TuttiError}
   * RATE_LIMIT_TIMEOUT if the turn would come too late.
   */
  take(options?: TakeOptions): Promise<boolean>
}

export interface TakeOptions {
  readonly signal?: AbortSignal
  /** Clock of the limit; the clock of the first call is used for all calls. @default the system clock */
  readonly clock?: Clock
}

const OPTION_NAMES = {
  requests: true,
  intervalMs: true,
  maxWaitMs: true,
} as const satisfies OptionNames<RateLimitOptions>

/** Default maximum wait, in milliseconds. */
const DEFAULT_MAX_WAIT_MS = 30_000

/**
 * Creates a rate limit, such as `rateLimit({ requests: 60, intervalMs: 60_000 })`.
 *
 * @throws {RangeError} naming every invalid option.
 */
export function rateLimit(options: RateLimitOptions): RateLimit {
  const { requests, intervalMs, maxWaitMs = DEFAULT_MAX_WAIT_MS } = options
  const problems = [...findOptionProblems(options, OPTION_NAMES)]
  if (!Number.isInteger(requests) || requests < 1) {
    problems.push(`requests must be an integer >= 1, got ${requests}`)
  }
  if (!Number.isFinite(intervalMs) || intervalMs <= 0) {
    problems.push(`intervalMs must be a number > 0, got ${intervalMs}`)
  }
  if (!(maxWaitMs >= 0)) problems.push(`maxWaitMs must be >= 0, got ${maxWaitMs}`)
  if (problems.length > 0)
    throw new RangeError(`Cannot create a rate limit: ${problems.join('; ')}`)
  return new TokenBucket({ requests, intervalMs, maxWaitMs })
}

/** Maximum rounding error of a sum of times. */
const ROUNDING_MS = 0.001

/** Clock and fill level of a bucket. */
interface Level {
  readonly clock: Clock
  /**
   * Time at which the bucket was last empty, or would have been; since then one token has arrived every
   * `tokenMs`.
   */
  emptyAt: number
}

class TokenBucket implements RateLimit {
  readonly requests: number
  readonly intervalMs: number
  readonly maxWaitMs: number
  /** Waiting calls, in order of arrival. */
  readonly #queue = new Set<() => void>()
  #level: Level | undefined
  #stopTimer: (() => void) | undefined

  constructor({ requests, intervalMs, maxWaitMs }: Required<RateLimitOptions>) {
    this.requests = requests
    this.intervalMs = intervalMs
    this.maxWaitMs = maxWaitMs
  }

  get #tokenMs(): number {
    return this.intervalMs / this.requests
  }

  async take({ signal, clock = systemClock }: TakeOptions = {}): Promise<boolean> {
    signal?.throwIfAborted()
    // Start with one token: a full bucket would allow twice the number of calls in its first interval.
    this.#level ??= { clock, emptyAt: clock.elapsed() - this.#tokenMs }
    if (this.#queue.size === 0 && this.#takeToken(this.#level)) return false
    const waitMs = this.#msToToken(this.#level) + this.#queue.size * this.#tokenMs
    if (waitMs > this.maxWaitMs) throw this.#tooLate(waitMs)
    if (!(await this.#turn(this.#level, signal))) signal?.throwIfAborted()
    return true
  }

  /** Waits in the queue. Resolves to true with a token, and to false if the signal aborts first. */
  #turn(level: Level, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const begin = (): void => {
        this.#queue.delete(begin)
        signal?.removeEventListener('abort', onAbort)
        resolve(true)
      }
      const onAbort = (): void => {
        this.#queue.delete(begin)
        signal?.removeEventListener('abort', onAbort)
        if (this.#queue.size === 0) this.#sleep()
        resolve(false)
      }
      signal?.addEventListener('abort', onAbort)
      this.#queue.add(begin)
      this.#wakeLater(level)
    })
  }

  #takeToken(level: Level): boolean {
    if (this.#msToToken(level) > 0) return false
    level.emptyAt += this.#tokenMs
    return true
  }

  /** Returns the time until the next token in milliseconds; 0 if there is one. */
  #msToToken(level: Level): number {
    const now = level.clock.elapsed()
    level.emptyAt = Math.max(level.emptyAt, now - this.intervalMs)
    const leftMs = level.emptyAt + this.#tokenMs - now
    return leftMs < ROUNDING_MS ? 0 : leftMs
  }

  #wakeLater(level: Level): void {
    if (this.#stopTimer !== undefined) return
    const delayMs = Math.max(1, Math.ceil(this.#msToToken(level)))
    this.#stopTimer = level.clock.after(delayMs, () => {
      this.#stopTimer = undefined
      for (const begin of this.#queue) {
        if (!this.#takeToken(level)) break
        begin()
      }
      if (this.#queue.size > 0) this.#wakeLater(level)
    })
  }

  #sleep(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  #tooLate(waitMs: number): TuttiError {
    const { requests, intervalMs, maxWaitMs } = this
    return new TuttiError(
      'RATE_LIMIT_TIMEOUT',
      `Rate limit of ${requests} requests in ${intervalMs} ms has the next turn in ${Math.ceil(waitMs)} ms, ` +
        `after maxWaitMs of ${maxWaitMs} ms`,
      { retryable: true, details: { requests, intervalMs, maxWaitMs, waitMs } },
    )
  }
}
