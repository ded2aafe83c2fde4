/**
 * Indexes the search texts that an earlier version has stored, in the background. Until then each search reads them.
 *
 * One process does it, in transactions of a limited size. Each transaction records how far it has come, so that another
 * process continues where this one ends.
 */
import { systemClock, type Logger } from '@tutti/core'

import { LOCKS, type Database } from './database.ts'
import { toGrams } from './grams.ts'

/** Maximum number of texts, and of their bytes, for one transaction: a fraction of a second. */
const TEXTS = 200
const BYTES = 500_000

/** Time to wait while another process indexes, or after an error, in milliseconds. */
const RETRY_MS = 60_000

/** Options of {@link GramFiller}. */
export interface GramFillerOptions {
  readonly database: Database
  readonly logger: Logger
}

/** Indexes the texts that are not indexed yet. */
export class GramFiller {
  readonly #options: GramFillerOptions
  #isClosed = false
  #stopWaiting: (() => void) | undefined

  constructor(options: GramFillerOptions) {
    this.#options = options
  }

  /** Starts, if there are such texts. */
  async start(): Promise<void> {
    const { database } = this.#options
    const { schema } = database
    const rows = await database.query(
      `SELECT 1 FROM ${schema}.run_texts
       WHERE grams IS NULL AND run > (SELECT up_to FROM ${schema}.indexed_texts) LIMIT 1`,
    )
    if (rows.length > 0) void this.#fill()
  }

  close(): void {
    this.#isClosed = true
    this.#stopWaiting?.()
  }

  async #fill(): Promise<void> {
    const { database, logger } = this.#options
    try {
      for (let done = 'some'; done === 'some';) {
        if (this.#isClosed) return
        done = await fillSome(database)
        if (done === 'all') return
      }
    } catch (error) {
      if (this.#isClosed) return
      logger.warn('Failed to index search texts', { error })
    }
    this.#stopWaiting = systemClock.after(RETRY_MS, () => void this.#fill())
  }
}

/** Indexes the next texts. Returns whether there are none left, or another process indexes. */
async function fillSome(database: Database): Promise<'some' | 'all' | 'locked'> {
  return database.transaction({}, async ({ schema, query }) => {
    const [lock] = await query('SELECT pg_try_advisory_xact_lock($1, $2) AS is_free', [
      LOCKS.grams,
      database.lockKey,
    ])
    if (lock?.['is_free'] !== true) return 'locked'
    const texts = await query(
      `SELECT run, text FROM (
         SELECT run, text, sum(octet_length(text)) OVER (ORDER BY run) - octet_length(text) AS before
         FROM (
           SELECT run, text FROM ${schema}.run_texts
           WHERE grams IS NULL AND run > (SELECT up_to FROM ${schema}.indexed_texts)
           ORDER BY run LIMIT $1
         ) AS next
       ) AS sized WHERE before < $2 ORDER BY run`,
      [TEXTS, BYTES],
    )
    const last = texts.at(-1)
    if (last === undefined) return 'all'
    const runs: unknown[] = []
    const grams: string[] = []
    for (const { run, text } of texts) {
      const found = toGrams(String(text))
      if (found === undefined) continue
      runs.push(run)
      grams.push(`{${found.join()}}`)
    }
    await query(
      `UPDATE ${schema}.run_texts SET grams = found.grams::int2[]
       FROM unnest($1::int8[], $2::text[]) AS found (run, grams) WHERE run_texts.run = found.run`,
      [runs, grams],
    )
    await query(`UPDATE ${schema}.indexed_texts SET up_to = $1`, [last['run']])
    return 'some'
  })
}
