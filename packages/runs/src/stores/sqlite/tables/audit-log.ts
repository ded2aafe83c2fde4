/** The audit log of the embedded store. */
import { clampCount } from '../../shared/query-numbers.ts'
import { readAuditEntry } from '../../shared/record-fields.ts'

import type { AuditLog, AuditPageQuery, NewAuditEntry } from '../../../ports/audit-log.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { AuditEntry } from '@tutti/protocol'
import type { StatementSync } from 'node:sqlite'

/** The audit log over an open database. */
export class SqliteAuditLog implements AuditLog {
  readonly #parts: SqliteParts
  readonly #insert: StatementSync
  readonly #trim: StatementSync

  constructor(parts: SqliteParts) {
    const { database } = parts
    this.#parts = parts
    this.#insert = database.prepare(
      'INSERT INTO audit (run_id, actor, action, data) VALUES (?, ?, ?, ?)',
    )
    this.#trim = database.prepare(
      `DELETE FROM audit
       WHERE id <= (SELECT id FROM audit ORDER BY id DESC LIMIT 1 OFFSET ?)`,
    )
  }

  async append(entries: readonly NewAuditEntry[]): Promise<void> {
    if (entries.length === 0) return
    await this.#parts.inTurn(() => {
      for (const entry of entries) {
        const { runId, actor, action } = entry
        this.#insert.run(
          runId === undefined ? null : JSON.stringify(runId),
          JSON.stringify(actor),
          JSON.stringify(action),
          JSON.stringify(entry),
        )
      }
    })
  }

  async list(query: AuditPageQuery): Promise<readonly AuditEntry[]> {
    const { runId, actor, action, before, limit, maxBytes = Infinity } = query
    const wanted = Object.entries({ run_id: runId, actor, action }).flatMap(([column, text]) =>
      text === undefined ? [] : [{ sql: `${column} = ?`, value: JSON.stringify(text) }],
    )
    const conditions: readonly { readonly sql: string; readonly value: string | number }[] = [
      ...wanted,
      ...(before === undefined ? [] : [{ sql: 'id < ?', value: clampCount(before) }]),
    ]
    const where =
      conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`
    const found = this.#parts.database.prepare(
      `SELECT id, data FROM audit ${where} ORDER BY id DESC LIMIT ?`,
    )
    const entries: AuditEntry[] = []
    let bytes = 0
    for (const row of found.iterate(...conditions.map(({ value }) => value), clampCount(limit))) {
      const data = String(row['data'])
      entries.push({ ...readAuditEntry(row), id: Number(row['id']) })
      bytes += Buffer.byteLength(data)
      if (bytes >= maxBytes) break
    }
    return entries
  }

  async trim(keep: number): Promise<void> {
    this.#trim.run(clampCount(keep))
  }
}
