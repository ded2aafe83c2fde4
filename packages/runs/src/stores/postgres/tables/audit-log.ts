/** The audit log in Postgres. */
import { LOCKS, type Database } from '../database/database.ts'
import { clampBytes, clampCount } from '../../shared/query-numbers.ts'
import { readAuditEntry } from '../../shared/record-fields.ts'
import { toIndex } from '../database/text.ts'

import type { AuditLog, AuditPageQuery, NewAuditEntry } from '../../../ports/audit-log.ts'
import type { AuditEntry } from '@tutti/protocol'

/** The audit log of a Postgres store. */
export class PostgresAuditLog implements AuditLog {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Appends under a lock, so that readers never see a number before a smaller one (RUNS-A2). */
  async append(entries: readonly NewAuditEntry[]): Promise<void> {
    if (entries.length === 0) return
    const { schema, lockKey } = this.#database
    await this.#database.query(
      `WITH alone AS MATERIALIZED (SELECT pg_advisory_xact_lock($1, $2))
       INSERT INTO ${schema}.audit (run_id, actor, action, data)
       SELECT run_id, actor, action, data
       FROM alone, unnest($3::text[], $4::text[], $5::text[], $6::text[])
         WITH ORDINALITY AS entry (run_id, actor, action, data, place)
       ORDER BY place`,
      [
        LOCKS.audit,
        lockKey,
        entries.map(({ runId }) => (runId === undefined ? null : toIndex(runId))),
        entries.map(({ actor }) => toIndex(actor)),
        entries.map(({ action }) => toIndex(action)),
        entries.map((entry) => JSON.stringify(entry)),
      ],
    )
  }

  async list(query: AuditPageQuery): Promise<readonly AuditEntry[]> {
    const { runId, actor, action, before, limit, maxBytes = Infinity } = query
    const texts = { run_id: runId, actor, action }
    const wanted = Object.entries(texts).filter(([, text]) => text !== undefined)
    const conditions = [
      'id < $2',
      ...wanted.map(([column], index) => `${column} = $${index + 4}`),
    ].join(' AND ')
    const rows = await this.#database.query(
      `SELECT id, data FROM (
         SELECT id, data,
           sum(octet_length(data)) OVER (ORDER BY id DESC) - octet_length(data) AS before
         FROM (
           SELECT id, data FROM ${this.#database.schema}.audit
           WHERE ${conditions} ORDER BY id DESC LIMIT $1
         ) AS page
       ) AS sized WHERE before < $3 ORDER BY id DESC`,
      [
        clampCount(limit),
        clampCount(before ?? Infinity),
        clampBytes(maxBytes),
        ...wanted.map(([, text]) => toIndex(String(text))),
      ],
    )
    return rows.map((row) => ({
      ...readAuditEntry(row),
      id: Number(row['id']),
    }))
  }

  async trim(keep: number): Promise<void> {
    const { schema } = this.#database
    await this.#database.query(
      `DELETE FROM ${schema}.audit
       WHERE id <= (SELECT id FROM ${schema}.audit ORDER BY id DESC LIMIT 1 OFFSET $1)`,
      [clampCount(keep)],
    )
  }
}
