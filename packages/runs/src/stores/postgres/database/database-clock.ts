/**
 * The clock of a database, as a process knows it without asking each time.
 *
 * RUNS-TI4 On Postgres, the instants that processes compute are those of the database's clock, not of the clocks of their
 *    machines: start times, deadlines of reviews and waits, ticks, and the times of events.
 * RUNS-TI5 A reading proves limits of the difference: the database read its clock after the statement was sent and before its
 *    result arrived. A difference within them does not change, and another one moves to the nearest limit, so that a slow reading
 *    does not spoil it.
 * RUNS-TI6 When the clock of the database is set, or a server with another clock takes over, the processes follow it at their
 *    next reading, and log by how much. Only then does this clock go back.
 */
import { MIN_STEP_MS, steadyClock } from '../../../domain/steady-clock.ts'

import type { Clock, Logger } from '@tutti/core'

/** Statement that returns the clock of the database as `now`, in milliseconds since 1970. */
export const CLOCK_SQL = 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now'

/** Resolution of the clock of a process, in milliseconds. */
const RESOLUTION_MS = 1

/** The clock of a database. It shows the time of this process until the first reading. */
export class DatabaseClock implements Clock {
  readonly #own: Clock
  readonly #logger: Logger
  /** Time by which the database is ahead of this process, in milliseconds; undefined before the first reading. */
  #aheadMs: number | undefined
  #latest = -Infinity

  constructor(logger: Logger, own: Clock = steadyClock) {
    this.#logger = logger
    this.#own = own
  }

  now(): number {
    this.#latest = Math.max(this.#latest, Math.floor(this.#own.now() + (this.#aheadMs ?? 0)))
    return this.#latest
  }

  elapsed(): number {
    return this.#own.elapsed()
  }

  after(delayMs: number, callback: () => void): () => void {
    return this.#own.after(delayMs, callback)
  }

  /** Reads the clock of the database with `read`, which executes {@link CLOCK_SQL}. @throws {Error} as `read`. */
  async measure(read: () => Promise<number>): Promise<void> {
    const sentAt = this.#own.now()
    const instant = await read()
    const least = instant - this.#own.now() - RESOLUTION_MS
    const most = instant - sentAt
    const before = this.#aheadMs
    this.#aheadMs =
      before === undefined ? (least + most) / 2 : Math.min(Math.max(before, least), most)
    if (before === undefined) {
      this.#latest = -Infinity
      return
    }
    const changeMs = Math.round(this.#aheadMs - before)
    if (Math.abs(changeMs) < MIN_STEP_MS) return
    this.#latest = -Infinity
    this.#logger.warn('The clock of the database was set; runs follow it', { changeMs })
  }
}
