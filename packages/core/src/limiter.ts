/**
 * Limits how many calls run at the same time and how often calls start: for one tool, for the tools that use one API, or
 * for all tools of a run. Waiting calls proceed in the order in which they asked.
 */
import { systemClock, type Clock } from './clock.ts'
import { assertKnownOptions, type OptionNames } from './known-options.ts'

/** Limiter of concurrent calls; slots are granted in the order of the requests. */
export interface Limiter {
  readonly maxConcurrent: number
  /** Number of slots in use. */
  readonly running: number
  /** Number of requests that wait for a slot. */
  readonly waiting: number
  /** Takes a slot if one is free and no request waits; the slot is held until {@link release}. */
  tryAcquire(): boolean
  /** Waits for a slot; rejects with the signal's reason when it aborts first. */
  acquire(signal?: AbortSignal): Promise<void>
  /** Returns a slot. */
  release(): void
}

/** Limits of a limiter. */
export interface LimiterOptions {
  /** Maximum number of slots in use at the same time, an integer of at least 1; Infinity means no limit. */
  readonly maxConcurrent: number
  /** Maximum number of slots granted in any `intervalMs`, an integer of at least 1. @default Infinity */
  readonly maxPerInterval?: number
  /** Length of an interval in milliseconds. @default 1000 */
  readonly intervalMs?: number
  /** Clock that measures the intervals. @default the system clock */
  readonly clock?: Clock
}

const OPTION_NAMES = {
  maxConcurrent: true,
  maxPerInterval: true,
  intervalMs: true,
  clock: true,
} as const satisfies OptionNames<LimiterOptions>

/**
 * Creates a limiter, such as `createLimiter({ maxConcurrent: 2, maxPerInterval: 10 })` for an API that allows ten calls a
 * second.
 *
 * @throws {RangeError} listing every invalid limit.
 */
export function createLimiter(options: LimiterOptions): Limiter {
  assertKnownOptions('Cannot create limiter:', options, OPTION_NAMES)
  const { maxConcurrent, maxPerInterval = Infinity, intervalMs = 1000 } = options
  assertBounds({ maxConcurrent, maxPerInterval, intervalMs })
  return new TurnLimiter(
    { maxConcurrent, maxPerInterval, intervalMs },
    options.clock ?? systemClock,
  )
}

interface Bounds {
  readonly maxConcurrent: number
  readonly maxPerInterval: number
  readonly intervalMs: number
}

function isBound(bound: number): boolean {
  return bound >= 1 && (Number.isInteger(bound) || bound === Infinity)
}

function assertBounds({ maxConcurrent, maxPerInterval, intervalMs }: Bounds): void {
  const isInterval = intervalMs > 0 && Number.isFinite(intervalMs)
  if (isBound(maxConcurrent) && isBound(maxPerInterval) && isInterval) return
  const problems = Object.entries({ maxConcurrent, maxPerInterval })
    .filter(([, bound]) => !isBound(bound))
    .map(([name, bound]) => `${name} must be an integer >= 1 or Infinity, got ${bound}`)
  if (!isInterval) problems.push(`intervalMs must be > 0, got ${intervalMs}`)
  throw new RangeError(`Cannot create limiter: ${problems.join('; ')}`)
}

class TurnLimiter implements Limiter {
  readonly #bounds: Bounds
  readonly #clock: Clock
  /** Waiting requests, in order. */
  readonly #queue = new Set<() => void>()
  /** Start times of the slots granted in the last interval; used only with `maxPerInterval`. */
  readonly #begun: number[] = []
  #running = 0
  #stopTimer: (() => void) | undefined

  constructor(bounds: Bounds, clock: Clock) {
    this.#bounds = bounds
    this.#clock = clock
  }

  get maxConcurrent(): number {
    return this.#bounds.maxConcurrent
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#queue.size
  }

  tryAcquire(): boolean {
    if (this.#queue.size > 0 || !this.#isFree()) return false
    this.#begin()
    return true
  }

  acquire(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(asError(signal.reason))
    if (this.tryAcquire()) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', cancel)
        resolve()
      }
      const cancel = (): void => {
        this.#queue.delete(begin)
        reject(asError(signal?.reason))
      }
      signal?.addEventListener('abort', cancel, { once: true })
      this.#queue.add(begin)
      this.#serve()
    })
  }

  release(): void {
    this.#running -= 1
    this.#serve()
  }

  /** Grants free slots to waiting requests; sets a timer when only the interval prevents it. */
  #serve(): void {
    for (const begin of this.#queue) {
      if (!this.#isFree()) break
      this.#queue.delete(begin)
      this.#begin()
      begin()
    }
    if (this.#queue.size > 0 && this.#running < this.#bounds.maxConcurrent) this.#wakeLater()
  }

  #isFree(): boolean {
    const { maxConcurrent, maxPerInterval, intervalMs } = this.#bounds
    if (this.#running >= maxConcurrent) return false
    if (maxPerInterval === Infinity) return true
    const intervalStart = this.#clock.elapsed() - intervalMs
    while (this.#begun[0] !== undefined && this.#begun[0] <= intervalStart) this.#begun.shift()
    return this.#begun.length < maxPerInterval
  }

  #begin(): void {
    this.#running += 1
    if (this.#bounds.maxPerInterval !== Infinity) this.#begun.push(this.#clock.elapsed())
  }

  #wakeLater(): void {
    const [earliest] = this.#begun
    if (this.#stopTimer !== undefined || earliest === undefined) return
    const delayMs = earliest + this.#bounds.intervalMs - this.#clock.elapsed()
    this.#stopTimer = this.#clock.after(Math.max(1, Math.ceil(delayMs)), () => {
      this.#stopTimer = undefined
      this.#serve()
    })
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException('Aborted', 'AbortError')
}
