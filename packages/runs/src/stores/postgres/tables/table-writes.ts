/** The writes of small tables for which other processes must be locked out. */
import { LOCKS, type Database } from '../database/database.ts'

import type { AssignEvents } from '../../shared/tables/external-events.ts'
import type { InsertAudit } from '../../shared/tables/audit-log.ts'
import type { AppendMemory } from '../../shared/tables/run-memory.ts'
import type { ClaimDue } from '../../shared/tables/webhook-outbox.ts'

/** Inserts under a lock. */
export function postgresAuditInserter(database: Database): InsertAudit {
  return (rows) =>
    database.query(
      `WITH alone AS MATERIALIZED (SELECT pg_advisory_xact_lock($1, $2))
       INSERT INTO $schema.audit (run_id, actor, action, data)
       SELECT run_id, actor, action, data
       FROM alone, unnest($3::text[], $4::text[], $5::text[], $6::text[])
         WITH ORDINALITY AS entry (run_id, actor, action, data, place)
       ORDER BY place`,
      [LOCKS.audit, database.lockKey, ...[0, 1, 2, 3].map((at) => rows.map((row) => row[at]))],
    )
}

/** Appends and deletes with one statement, which does not see the new row. */
export function postgresMemoryAppender(database: Database): AppendMemory {
  return (scope, data, keep) =>
    database.query(
      `WITH added AS (
         INSERT INTO $schema.memories (scope, data) VALUES ($1, $2) RETURNING id
       )
       DELETE FROM $schema.memories WHERE scope = $1 AND id <= (
         SELECT id FROM $schema.memories
         WHERE scope = $1 AND id < (SELECT id FROM added)
         ORDER BY id DESC LIMIT 1 OFFSET $3
       )`,
      [scope, data, keep - 1],
    )
}

/** Skips deliveries that another process is claiming or settling. */
export function postgresDeliveryClaimer(database: Database): ClaimDue {
  return (limit, claimMs) =>
    database.query(
      `WITH due AS (
         SELECT id, due_at FROM $schema.deliveries WHERE due_at <= statement_timestamp()
         ORDER BY due_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
       ), claimed AS (
         UPDATE $schema.deliveries SET attempt = attempt + 1,
           due_at = clock_timestamp() + $2 * interval '1 millisecond'
         FROM due WHERE deliveries.id = due.id
         RETURNING deliveries.id, run, seq, webhook, attempt, due.due_at AS was_due
       )
       SELECT run, run_id, seq, webhook, attempt FROM claimed JOIN $schema.runs ON runs.id = run
       ORDER BY was_due, claimed.id`,
      [limit, claimMs],
    )
}

/** Pairs events with waits, one process at a time. */
export function postgresEventAssigner(database: Database): AssignEvents {
  return async (now, addresses) => {
    await database.query('SELECT $schema.assign_external_events($1, $2, $3, $4)', [
      addresses,
      now,
      LOCKS.externalEvents,
      database.lockKey,
    ])
  }
}
