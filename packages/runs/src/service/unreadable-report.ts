/** Logs records of the store that are damaged, each once. */
import type { Logger } from '@tutti/core'

/** Maximum number of records that are remembered as logged. */
const MAX_LOGGED = 10_000

/** The parts of a record that the log names. */
export interface ReportedRecord {
  readonly runId?: string
  readonly reviewId?: string
  readonly threadId?: string
  readonly unreadable?: string
}

/** Logs damaged records; a record that is read again is not logged again. */
export class UnreadableReport {
  readonly #logger: Logger
  readonly #logged = new Set<string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Logs the damaged ones of these records, and returns all of them. */
  report<T extends ReportedRecord>(records: readonly T[]): readonly T[] {
    for (const record of records) if (record.unreadable !== undefined) this.#log(record)
    return records
  }

  #log({ runId, reviewId, threadId, unreadable }: ReportedRecord): void {
    const key = JSON.stringify([runId, reviewId, threadId, unreadable])
    if (this.#logged.has(key) || this.#logged.size >= MAX_LOGGED) return
    this.#logged.add(key)
    this.#logger.error('Cannot read a part of a stored record', {
      ...(runId === undefined ? {} : { runId }),
      ...(reviewId === undefined ? {} : { reviewId }),
      ...(threadId === undefined ? {} : { threadId }),
      reason: unreadable,
    })
  }
}
