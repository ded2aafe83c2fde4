/**
 * Ends the waits of one try: when its caller cancels, when a request takes too long, or when the agent is silent for
 * too long.
 *
 * CALL-Y1 The time of a request runs from before it is sent; the idle time starts again with every byte. Both are
 *    paused while a reviewer is asked.
 */
import type { Clock } from '@tutti/core'
import { Deadline } from '@tutti/core/internal'

import { Termination, toTermination } from './agent-error.ts'
import { IdleTimer } from './idle-timer.ts'

import type { AgentLimits } from './agent-tool-settings.ts'

/** Parts of a {@link TryInterruption}. */
export interface TryInterruptionOptions {
  readonly clock: Clock
  readonly limits: Required<Pick<AgentLimits, 'timeoutMs' | 'idleTimeoutMs'>>
  /** Aborts when the call is cancelled from above. */
  readonly signal: AbortSignal
}

/** The clocks and the cancel of one try. The clocks run for one turn at a time. */
export class TryInterruption {
  readonly #options: TryInterruptionOptions
  readonly #onAbort: () => void
  #deadline: Deadline | undefined
  #idle: IdleTimer | undefined
  #reason: Termination | undefined
  #reject: ((reason: Termination) => void) | undefined

  constructor(options: TryInterruptionOptions) {
    const { signal } = options
    this.#options = options
    this.#onAbort = () => {
      this.#interrupt(toTermination(signal.reason))
    }
    signal.addEventListener('abort', this.#onAbort, { once: true })
    if (signal.aborted) this.#onAbort()
  }

  /** Time left for the turn, in milliseconds. */
  leftMs(): number {
    return this.#deadline?.leftMs() ?? Infinity
  }

  /** Starts both clocks from the beginning. */
  start(): void {
    const { clock, limits } = this.#options
    const { timeoutMs, idleTimeoutMs } = limits
    this.stop()
    this.#deadline = new Deadline(clock, timeoutMs, () => {
      this.#interrupt(new Termination('timeout', `it took longer than ${timeoutMs} ms`))
    })
    this.#deadline.start()
    this.#idle = new IdleTimer(clock, idleTimeoutMs, () => {
      this.#interrupt(new Termination('idle_timeout', `no data arrived for ${idleTimeoutMs} ms`))
    })
  }

  /** Restarts the idle clock, since something arrived. */
  touch(): void {
    this.#idle?.touch()
  }

  /** Stops both clocks; a cancel still interrupts. */
  stop(): void {
    this.#deadline?.end()
    this.#idle?.pause()
    this.#deadline = undefined
    this.#idle = undefined
  }

  /** Stops both clocks and ignores later cancels. */
  dispose(): void {
    this.stop()
    this.#options.signal.removeEventListener('abort', this.#onAbort)
  }

  /** Performs `work` while both clocks are paused. */
  async whilePaused<T>(work: () => Promise<T>): Promise<T> {
    const [deadline, idle] = [this.#deadline, this.#idle]
    deadline?.pause()
    idle?.pause()
    try {
      return await work()
    } finally {
      if (this.#deadline === deadline) {
        deadline?.resume()
        idle?.resume()
      }
    }
  }

  /** @throws {Termination} when the try was interrupted. */
  throwIfInterrupted(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  /** Settles with the promise, or rejects with the first interruption if that comes first. One wait at a time. */
  wait<T>(promise: Promise<T>): Promise<T> {
    if (this.#reason !== undefined) {
      promise.catch(() => undefined)
      return Promise.reject(this.#reason)
    }
    return new Promise((resolve, reject) => {
      this.#reject = reject
      promise.then(resolve, reject)
    })
  }

  #interrupt(reason: Termination): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#reject?.(reason)
  }
}
