/**
 * Bounds how often models are called: a bucket of tokens, one a call, that fills at an even pace.
 *
 * All users of the object share the limit, so it may span tasks, runs and models of one provider.
 * The bucket is an instant, `emptyAt`: it holds what has flowed in since then, and each call moves the
 * instant on by the time that one token takes.
 *
 * ENS-R1 The first call is made at once and later ones as tokens arrive, `requests` in `intervalMs`; at most
 *    `requests` tokens accumulate while no call is made.
 * ENS-R2 Calls are made in the order in which they arrive.
 * ENS-R3 A call whose turn cannot come within `maxWaitMs` fails at once with RATE_LIMIT_TIMEOUT.
 * ENS-R4 A call that is aborted while it waits takes no token, and those behind it move up.
 * ENS-R5 A limit without waiting calls has no timer and no listener on a signal.
 */
import {
  findUnknownOptions,
  systemClock,
  TuttiError,
  type Clock,
  type OptionNames,
} from '@tutti/core'

/** How often something may be done. */
export interface RateLimitOptions {
  /** Calls in any `intervalMs` in the long run, and those that may come at once after a pause. */
  readonly requests: number
  /** Milliseconds. */
  readonly intervalMs: number
  /** Longest wait for a turn in milliseconds; 0 never waits, Infinity always. @default 30000 */
  readonly maxWaitMs?: number
}

/** A limit that is shared by all who hold it. */
export interface RateLimit extends Required<RateLimitOptions> {
  /**
   * Resolves when a call may be made.
   *
   * Rejects with the reason of the signal when that aborts first, and with a {@link TuttiError}
   * RATE_LIMIT_TIMEOUT, at once, when the turn would come too late.
   */
  take(options?: TakeOptions): Promise<void>
}

/** Surroundings of one call. */
export interface TakeOptions {
  readonly signal?: AbortSignal
  /** The clock of the first call is that of all. @default the system's clock */
  readonly clock?: Clock
}

const OPTION_NAMES = {
  requests: true,
  intervalMs: true,
  maxWaitMs: true,
} as const satisfies OptionNames<RateLimitOptions>

/** AgentEnsemble's. */
const DEFAULT_MAX_WAIT_MS = 30_000

/**
 * Makes a limit, such as `rateLimit({ requests: 60, intervalMs: 60_000 })`.
 *
 * @throws {RangeError} naming every option that does not fit.
 */
export function rateLimit(options: RateLimitOptions): RateLimit {
  const { requests, intervalMs, maxWaitMs = DEFAULT_MAX_WAIT_MS } = options
  const problems = [...findUnknownOptions(options, OPTION_NAMES)]
  if (!Number.isInteger(requests) || requests < 1) {
    problems.push(`requests must be an integer >= 1, got ${requests}`)
  }
  if (!Number.isFinite(intervalMs) || intervalMs <= 0) {
    problems.push(`intervalMs must be a number > 0, got ${intervalMs}`)
  }
  if (!(maxWaitMs >= 0)) problems.push(`maxWaitMs must be >= 0, got ${maxWaitMs}`)
  if (problems.length > 0) throw new RangeError(`Cannot make a rate limit: ${problems.join('; ')}`)
  return new TokenBucket({ requests, intervalMs, maxWaitMs })
}

/** Maximum rounding error of sums of instants. */
const ROUNDING_MS = 0.001

/** The clock of a bucket, and its content. */
interface Level {
  readonly clock: Clock
  /** When the bucket was empty last, or would have been: a token flows in every `tokenMs` since. */
  emptyAt: number
}

class TokenBucket implements RateLimit {
  readonly requests: number
  readonly intervalMs: number
  readonly maxWaitMs: number
  /** Those that wait, first come first. */
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

  async take({ signal, clock = systemClock }: TakeOptions = {}): Promise<void> {
    signal?.throwIfAborted()
    // One token: a limit that began full would let through twice as many in its first interval.
    this.#level ??= { clock, emptyAt: clock.elapsed() - this.#tokenMs }
    if (this.#queue.size === 0 && this.#takeToken(this.#level)) return
    const waitMs = this.#msToToken(this.#level) + this.#queue.size * this.#tokenMs
    if (waitMs > this.maxWaitMs) throw this.#tooLate(waitMs)
    if (!(await this.#turn(this.#level, signal))) signal?.throwIfAborted()
  }

  /** Waits in the queue; whether a token was taken, and not the signal aborted first. */
  #turn(level: Level, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const begin = (): void => {
        this.#queue.delete(begin)
        signal?.removeEventListener('abort', giveUp)
        resolve(true)
      }
      const giveUp = (): void => {
        this.#queue.delete(begin)
        signal?.removeEventListener('abort', giveUp)
        if (this.#queue.size === 0) this.#sleep()
        resolve(false)
      }
      signal?.addEventListener('abort', giveUp)
      this.#queue.add(begin)
      this.#wakeLater(level)
    })
  }

  #takeToken(level: Level): boolean {
    if (this.#msToToken(level) > 0) return false
    level.emptyAt += this.#tokenMs
    return true
  }

  /** Milliseconds until there is a token, 0 when there is one. */
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
      `Rate limit of ${requests} requests in ${intervalMs} ms gives a turn in ${Math.ceil(waitMs)} ms ` +
        `at the earliest, allowed wait is ${maxWaitMs} ms`,
      { retryable: true, details: { requests, intervalMs, maxWaitMs, waitMs } },
    )
  }
}
