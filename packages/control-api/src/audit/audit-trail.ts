/**
 * Writes who did what, many entries at a time, beside the work and not within it.
 *
 *   record ─▶ waiting ─ 50 ms or 100 entries ─▶ store        now and then ─▶ trim
 *
 * API-T1 Nobody waits for an entry, and no failure of the trail reaches a request.
 * API-T2 Entries are kept in the order in which they were recorded. One that the store may have kept although
 *    it said otherwise can be there twice.
 * API-T3 What cannot be kept is tried again, for about two minutes; then it is written to the log in full.
 * API-T4 Memory is bounded: beyond 10 000 entries that wait, the newest go to the log at once.
 * API-T5 `flush` resolves when everything recorded before is kept, or has gone to the log.
 */
import { sleep, type Clock, type Logger } from '@tutti/core'

import type { AuditLog, NewAuditEntry } from '@tutti/runs'

/** What a trail works with. */
export interface AuditTrailOptions {
  readonly log: AuditLog
  readonly clock: Clock
  readonly logger: Logger
  /** Entries that are kept. */
  readonly maxAuditEntries: number
  /** Whether the store is about to be closed: entries do not wait for others then. */
  readonly isClosing: () => boolean
  /** Told how many entries are only in the log from now on. */
  readonly onLost?: (entries: number) => void
}

/** How long an entry may wait for others, in milliseconds. */
const GATHER_MS = 50

/** Entries that are written together. */
const BATCH = 100

const MAX_WAITING = 10_000

/** Tries, with pauses of a quarter of a second that double up to half a minute: about two minutes. */
const MAX_TRIES = 10
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000

/** Entries between two trims. */
const TRIM_EVERY = 1_000

/** The audit trail of a process. */
export class AuditTrail {
  readonly #options: AuditTrailOptions
  #waiting: NewAuditEntry[] = []
  #stopTimer: (() => void) | undefined
  #writing: Promise<void> | undefined
  #sinceTrim = TRIM_EVERY
  readonly #closed = new AbortController()

  constructor(options: AuditTrailOptions) {
    this.#options = options
  }

  /** Takes an entry. */
  record(entry: NewAuditEntry): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#logInstead([entry], undefined)
      return
    }
    this.#waiting.push(entry)
    if (this.#waiting.length >= BATCH || this.#options.isClosing()) this.#write()
    else
      this.#stopTimer ??= this.#options.clock.after(GATHER_MS, () => {
        this.#write()
      })
  }

  /** Writes what waits; never rejects. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing !== undefined) {
      this.#write()
      await this.#writing
    }
  }

  /** Writes what waits, with one try. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.flush()
  }

  #write(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH)
      await this.#append(batch)
      await this.#trim(batch.length)
    }
  }

  async #append(batch: readonly NewAuditEntry[]): Promise<void> {
    const { log, clock, logger } = this.#options
    const { signal } = this.#closed
    for (let tries = 1; ; tries += 1) {
      try {
        await log.append(batch)
        return
      } catch (error) {
        if (tries === MAX_TRIES || signal.aborted) {
          this.#logInstead(batch, error)
          return
        }
        if (tries === 1) logger.warn('The audit trail could not be kept; trying again', { error })
        await sleep(clock, Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS), signal)
      }
    }
  }

  async #trim(written: number): Promise<void> {
    const { log, logger, maxAuditEntries, isClosing } = this.#options
    this.#sinceTrim += written
    // A store that is about to be closed is tidied by the next process.
    if (this.#sinceTrim < TRIM_EVERY || isClosing()) return
    this.#sinceTrim = 0
    try {
      await log.trim(maxAuditEntries)
    } catch (error) {
      logger.warn('The audit trail could not be trimmed', { error })
    }
  }

  #logInstead(entries: readonly NewAuditEntry[], error: unknown): void {
    this.#options.onLost?.(entries.length)
    this.#options.logger.error('Entries of the audit trail are only here', { entries, error })
  }
}
