/** The audit log. */
import { clampBytes, clampCount } from '../query-numbers.ts'
import { readAuditEntry } from '../record-fields.ts'
import { encodeRow } from '../schema/columns.ts'
import { AUDIT_COLUMNS } from '../schema/table-columns.ts'
import { collectValues, type StoreParts } from '../schema/dialect.ts'

import type { AuditLog, NewAuditEntry } from '../../../ports/audit-log.ts'

/** Inserts rows with the values of `AUDIT_COLUMNS`, so that readers never see a number before a smaller one (RUNS-A2). */
export type InsertAudit = (rows: readonly (readonly unknown[])[]) => Promise<unknown>

/** Returns the audit log of a database. */
export function auditLog(
  { dialect: { texts }, requests }: Pick<StoreParts, 'dialect' | 'requests'>,
  insert: InsertAudit,
): AuditLog {
  const toRow = (entry: NewAuditEntry): readonly unknown[] =>
    encodeRow(texts, AUDIT_COLUMNS, { ...entry, data: JSON.stringify(entry) })
  return {
    async append(entries) {
      if (entries.length > 0) await insert(entries.map(toRow))
    },
    async list({ before, limit, maxBytes = Infinity, ...query }) {
      const { values, add } = collectValues(
        clampCount(limit),
        clampCount(before ?? Infinity),
        clampBytes(maxBytes),
      )
      const wanted = Object.entries({
        run_id: query.runId,
        actor: query.actor,
        action: query.action,
      }).flatMap(([column, text]) =>
        text === undefined ? [] : [`AND ${column} = ${add(texts.encode.key(text))}`],
      )
      const rows = await requests.query(
        `SELECT id, data FROM (
           SELECT id, data,
             sum(octet_length(data)) OVER (ORDER BY id DESC) - octet_length(data) AS before
           FROM (
             SELECT id, data FROM $schema.audit WHERE id < $2 ${wanted.join(' ')}
             ORDER BY id DESC LIMIT $1
           ) AS page
         ) AS sized WHERE before < $3 ORDER BY id DESC`,
        values,
      )
      return rows.map((row) => ({ ...readAuditEntry(row), id: Number(row['id']) }))
    },
    async trim(keep) {
      await requests.query(
        `DELETE FROM $schema.audit
         WHERE id <= (SELECT id FROM $schema.audit ORDER BY id DESC LIMIT 1 OFFSET $1)`,
        [clampCount(keep)],
      )
    },
  }
}
