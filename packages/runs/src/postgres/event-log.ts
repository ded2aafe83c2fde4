/** Reads the events of a Postgres store. */
import { EVENT_PAGE_BYTES } from '../ports/event-log.ts'
import { toEvent } from './rows.ts'
import { fromColumn, toColumn } from './text.ts'

import type { StoredEventLog, EventQuery, RunHead } from '../ports/event-log.ts'
import type { Database } from './database.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** The event log of a Postgres store. */
export class PostgresEventLog implements StoredEventLog {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async read(query: EventQuery): Promise<readonly LoggedRunEvent[]> {
    const { runId, from, limit, types, maxBytes = EVENT_PAGE_BYTES } = query
    const { schema } = this.#database
    const rows = await this.#database.query(
      `SELECT seq, data FROM (
         SELECT seq, data, sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS before
         FROM (
           SELECT seq, data FROM ${schema}.events
           WHERE run = (SELECT id FROM ${schema}.runs WHERE run_id = $1) AND seq >= $2
             AND ($4::text[] IS NULL OR type = ANY($4))
           ORDER BY seq LIMIT $3
         ) AS wanted
       ) AS sized WHERE before < $5 ORDER BY seq`,
      [toColumn(runId), from, limit, types, maxBytes],
    )
    return rows.map((row) => toEvent(runId, row))
  }

  async heads(runIds: readonly string[]): Promise<readonly RunHead[]> {
    const { schema } = this.#database
    const rows = await this.#database.query(
      `SELECT run_id, last_seq FROM ${schema}.runs WHERE state <> 'ended'
       UNION SELECT run_id, last_seq FROM ${schema}.runs WHERE run_id = ANY($1)`,
      [runIds.map(toColumn)],
    )
    return rows.map((row) => ({
      runId: fromColumn(String(row['run_id'])),
      lastSeq: Number(row['last_seq']),
    }))
  }
}
