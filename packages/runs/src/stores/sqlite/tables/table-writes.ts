/** The writes of small tables that are several statements in the embedded store. */
import { AUDIT_COLUMNS } from '../../shared/schema/table-columns.ts'
import { listColumnNames } from '../../shared/schema/columns.ts'
import { firstWaitSqls, IS_FREE } from '../../shared/tables/external-events.ts'

import type { AssignEvents } from '../../shared/tables/external-events.ts'
import type { InsertAudit } from '../../shared/tables/audit-log.ts'
import type { AppendMemory } from '../../shared/tables/run-memory.ts'
import type { ClaimDue } from '../../shared/tables/webhook-outbox.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { SqliteParts } from '../rows/parts.ts'

const INSERT_AUDIT = `
  INSERT INTO audit (${listColumnNames(AUDIT_COLUMNS).join(', ')}) VALUES ($1, $2, $3, $4)`

export function sqliteAuditInserter({ inTurn, statements }: SqliteParts): InsertAudit {
  return (rows) =>
    inTurn.later(() => {
      for (const row of rows) statements.run(INSERT_AUDIT, row)
    })
}

export function sqliteMemoryAppender({ statements }: SqliteParts): AppendMemory {
  return (scope, data, keep) =>
    statements.changeAll([
      ['INSERT INTO memories (scope, data) VALUES ($1, $2)', scope, data],
      [
        `DELETE FROM memories WHERE scope = $1 AND id <=
           (SELECT id FROM memories WHERE scope = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)`,
        scope,
        keep,
      ],
    ])
}

export function sqliteDeliveryClaimer({ statements, transaction }: SqliteParts): ClaimDue {
  return async (limit, claimMs) =>
    transaction(() => {
      const due = statements.run(
        `SELECT n, run, run_id, seq, webhook, attempt + 1 AS attempt FROM deliveries
           JOIN runs ON runs.id = run
         WHERE deliveries.due_at <= $now ORDER BY deliveries.due_at, n LIMIT $1`,
        [limit],
      )
      for (const { n } of due) {
        statements.run(
          'UPDATE deliveries SET due_at = $now + $1, attempt = attempt + 1 WHERE n = $2',
          [claimMs, n],
        )
      }
      return due
    })
}

/**
 * Returns the query for the next pair: `n` of the event, and `run` and `review_id` of the wait. The "+" excludes the order of
 * the table, which has all delivered events.
 */
function nextPairSql(only: string): string {
  const [ofAny, ofWanted] = firstWaitSqls('waits.n', '$1')
  return `
    SELECT external_events.n, waits.run, waits.review_id FROM external_events
    JOIN waits ON waits.n = CASE WHEN wanted_run IS NULL THEN (${ofAny}) ELSE (${ofWanted}) END
    WHERE ${IS_FREE} AND ${only} ORDER BY +external_events.n LIMIT 1`
}

const NEXT_PAIR = nextPairSql('true')

const NEXT_PAIR_OF = nextPairSql('external_events.address = ANY($2::text[])')

export function sqliteEventAssigner({ statements, transaction }: SqliteParts): AssignEvents {
  return async (now, addresses) => {
    const find = (): StoredRow | undefined =>
      addresses === null
        ? statements.run(NEXT_PAIR, [now])[0]
        : statements.run(NEXT_PAIR_OF, [now, addresses])[0]
    transaction(() => {
      for (let pair = find(); pair !== undefined; pair = find()) {
        statements.run('UPDATE external_events SET run = $1, review_id = $2 WHERE n = $3', [
          pair['run'],
          pair['review_id'],
          pair['n'],
        ])
      }
    })
  }
}
