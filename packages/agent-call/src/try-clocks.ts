/**
 * The clocks of one turn: how long it may take, and how long nothing may arrive.
 *
 * Y1 The time of a request runs from before it is sent; the time of silence starts anew with every byte. All
 *    clocks stand still while a person is asked.
 */
import { Deadline } from '@tutti/core'
import { IdleTimer } from './idle-timer.ts'
import { Termination } from './termination.ts'

import type { Clock } from '@tutti/core'
import type { AgentLimits } from './define-agent-tool.ts'

/** What the clocks go by, and whom they tell. */
export interface TryClocksOptions {
  readonly clock: Clock
  readonly limits: Required<Pick<AgentLimits, 'timeoutMs' | 'idleTimeoutMs'>>
  readonly onLimit: (termination: Termination) => void
}

/** The clocks of a try, which run for one turn at a time. */
export class TryClocks {
  readonly #options: TryClocksOptions
  #deadline: Deadline | undefined
  #idle: IdleTimer | undefined

  constructor(options: TryClocksOptions) {
    this.#options = options
  }

  /** What is left of the time of the turn, in milliseconds. */
  leftMs(): number {
    return this.#deadline?.leftMs() ?? Infinity
  }

  /** Starts anew. */
  start(): void {
    const { clock, limits, onLimit } = this.#options
    const { timeoutMs, idleTimeoutMs } = limits
    this.stop()
    this.#deadline = new Deadline(clock, timeoutMs, () => {
      onLimit(new Termination('timeout', `it took longer than ${timeoutMs} ms`))
    })
    this.#deadline.start()
    this.#idle = new IdleTimer(clock, idleTimeoutMs, () => {
      onLimit(new Termination('idle_timeout', `nothing arrived for ${idleTimeoutMs} ms`))
    })
  }

  /** Something arrived. */
  touch(): void {
    this.#idle?.touch()
  }

  stop(): void {
    this.#deadline?.end()
    this.#idle?.pause()
    this.#deadline = undefined
    this.#idle = undefined
  }

  /** Does something while all clocks stand still. */
  async standingStill<T>(work: () => Promise<T>): Promise<T> {
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
}
