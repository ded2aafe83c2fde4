/**
 * Records the actions of callers in batches, without delaying the actions.
 *
 *   record ─▶ waiting ─ 50 ms or 100 entries ─▶ store        every 1,000 entries ─▶ trim
 *
 * A store that joins entries to its other writes gets them at once.
 *
 * API-T1 Requests do not wait for entries, and a failure of the trail fails no request.
 * API-T2 Entries are stored in the order in which they were recorded. An entry is stored twice if the store
 *    reported a failure although it had stored the entry.
 * API-T3 Entries that cannot be stored are retried for about two minutes, then logged in full.
 * API-T4 Memory is bounded: while 10,000 entries wait, new ones are logged instead.
 * API-T5 `flush` resolves when all entries recorded before it are stored or logged.
 */
import type { Clock, Logger } from '@tutti/core'
import { backoffMs, sleep } from '@tutti/core/internal'

import type { AuditLog, NewAuditEntry } from '@tutti/runs/adapter'

/** Parts and limits of an audit trail. */
export interface AuditTrailOptions {
  readonly log: AuditLog
  readonly clock: Clock
  readonly logger: Logger
  /** Number of entries to retain. */
  readonly maxAuditEntries: number
  /** Whether the store is about to close. Entries are then written at once. */
  readonly isClosing: () => boolean
  /** Called with the number of entries that were logged instead of stored. */
  readonly onLost?: (entries: number) => void
}

/** Time for which an entry waits for more before they are written together, in milliseconds. */
const GATHER_MS = 50

/** Maximum number of entries written together. */
const BATCH = 100

const MAX_WAITING = 10_000

/** Number of tries; with pauses that double from 250 ms to 30 s they take about two minutes. */
const MAX_TRIES = 10
const BACKOFF = { firstMs: 250, maxMs: 30_000 }

/** Number of entries between two trims. */
const TRIM_EVERY = 1_000

/** The audit trail of a process. */
export class AuditTrail {
  readonly #options: AuditTrailOptions
  #waiting: NewAuditEntry[] = []
  #stopTimer: (() => void) | undefined
  #writing: Promise<void> | undefined
  /** Writes of entries that were recorded while the store was about to close. */
  readonly #last: Promise<void>[] = []
  #sinceTrim = TRIM_EVERY
  readonly #closed = new AbortController()

  constructor(options: AuditTrailOptions) {
    this.#options = options
  }

  /** Adds an entry, which is written later. */
  record(entry: NewAuditEntry): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#logInstead([entry], undefined)
      return
    }
    this.#waiting.push(entry)
    const { log, isClosing } = this.#options
    if (this.#waiting.length >= BATCH || log.joinsWrites === true || isClosing()) this.#write()
    else
      this.#stopTimer ??= this.#options.clock.after(GATHER_MS, () => {
        this.#write()
      })
  }

  /** Writes the waiting entries; never rejects. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing !== undefined) {
      this.#write()
      await this.#writing
    }
    await Promise.all(this.#last)
  }

  /** Writes the waiting entries without retrying. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.flush()
  }

  #write(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    if (this.#writing !== undefined && this.#options.isClosing()) {
      // The store may close before the write under way has ended. It stores entries in the order in which it gets them.
      if (this.#waiting.length > 0) this.#last.push(this.#append(this.#waiting.splice(0)))
      return
    }
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
        if (tries === 1) logger.warn('Failed to store audit entries; retrying', { error })
        await sleep(clock, backoffMs(tries - 1, BACKOFF), signal)
      }
    }
  }

  async #trim(written: number): Promise<void> {
    const { log, logger, maxAuditEntries, isClosing } = this.#options
    this.#sinceTrim += written
    // When the store is about to close, the next process trims it.
    if (this.#sinceTrim < TRIM_EVERY || isClosing()) return
    this.#sinceTrim = 0
    try {
      await log.trim(maxAuditEntries)
    } catch (error) {
      logger.warn('Failed to trim the audit trail', { error })
    }
  }

  #logInstead(entries: readonly NewAuditEntry[], error: unknown): void {
    this.#options.onLost?.(entries.length)
    this.#options.logger.error('Audit entries could not be stored; logging them instead', {
      entries,
      error,
    })
  }
}
