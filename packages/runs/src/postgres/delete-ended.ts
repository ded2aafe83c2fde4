/**
 * Deletes ended runs with all their data.
 *
 *   row of the run, tasks, reviews … ──▶ deleted_runs ──▶ events, in chunks
 *
 * RUNS-D7 A run disappears in one transaction, which notes it in `deleted_runs`. Its events, which can no longer be
 *    found, are deleted in statements of a limited size, also after a crash in between. Of all processes, one at
 *    a time deletes beyond a retention.
 */
import { LOCKS, type Database, type DatabaseSession, type PostgresRow } from './database.ts'
import { clampCount, finiteOrNull } from './numbers.ts'
import { fromColumn, toColumn } from './text.ts'
import { COST_PERIOD_COLUMNS, deleteEmptyCosts, toCostPeriods } from './totals.ts'

import type { Retention } from '../ports/run-store.ts'

/** Number of events that one statement deletes: a fraction of a second, for a run of any length. */
const EVENTS_PER_STATEMENT = 10_000

/** Implements `RunStore.deleteEnded`. Returns no id while another process deletes. */
export async function deleteEnded(
  database: Database,
  { keep, maxAgeMs = Infinity, limit }: Retention,
): Promise<readonly string[]> {
  const rows = await database.transaction({}, async ({ schema, query }) => {
    const [lock] = await query('SELECT pg_try_advisory_xact_lock($1, $2) AS is_free', [
      LOCKS.retention,
      database.lockKey,
    ])
    if (lock?.['is_free'] !== true) return []
    // Each bound is a range of the index of ended runs.
    const [beyond] = await query(
      // As text, because a date of JavaScript has no microseconds.
      `SELECT ended_at::text AS ended_at, id FROM ${schema}.runs WHERE state = 'ended'
       ORDER BY runs.ended_at DESC, id DESC OFFSET $1 LIMIT 1`,
      [clampCount(keep)],
    )
    const oldest = (bound: string): string =>
      `SELECT ended_at, id FROM ${schema}.runs WHERE state = 'ended' AND ${bound}
       ORDER BY ended_at, id LIMIT $4 FOR UPDATE SKIP LOCKED`
    const gone = await query(
      `WITH surplus AS (${oldest('(ended_at, id) <= ($1::text::timestamptz, $2::int8)')}),
       old AS (${oldest(`ended_at < statement_timestamp() - $3 * interval '1 millisecond'`)}),
       ${deletionSql(schema, SURPLUS_OR_OLD)}`,
      [
        beyond?.['ended_at'] ?? null,
        beyond?.['id'] ?? null,
        finiteOrNull(maxAgeMs),
        clampCount(limit),
      ],
    )
    await deleteEmptyCosts({ schema, query }, toCostPeriods(gone))
    return gone
  })
  await deleteEvents(database)
  return rows.toSorted(compareEnds).map((row) => fromColumn(String(row['run_id'])))
}

/** Deletes one run if it has ended. Returns whether it did. */
export async function deleteOne(database: Database, runId: string): Promise<boolean> {
  const { schema } = database
  const rows = await database.change(
    `WITH ${deletionSql(schema, `run_id = $1 AND state = 'ended'`)}`,
    [toColumn(runId)],
  )
  if (rows.length === 0) return false
  await deleteEvents(database)
  const query: DatabaseSession['query'] = (sql, values = []) => database.change(sql, values)
  await deleteEmptyCosts({ schema, query }, toCostPeriods(rows))
  return true
}

/** The oldest runs of both kinds. */
const SURPLUS_OR_OLD = `id IN (
  SELECT id FROM (SELECT * FROM surplus UNION SELECT * FROM old) AS both_kinds
  ORDER BY ended_at, id LIMIT $4)`

/** Builds the part of a statement that deletes runs and notes them; it follows WITH. */
function deletionSql(schema: string, where: string): string {
  return `gone AS (
      DELETE FROM ${schema}.runs WHERE ${where} RETURNING id, run_id, last_seq, ended_at,
        ${COST_PERIOD_COLUMNS}
    ), noted AS (
      INSERT INTO ${schema}.deleted_runs (run, last_seq) SELECT id, last_seq FROM gone
    )
    SELECT run_id, ended_at, id, actor_index, period FROM gone`
}

/** Deletes the events of deleted runs, except of those that another process is deleting. */
async function deleteEvents(database: Database): Promise<void> {
  for (;;) {
    const [deleted] = await database.change(eventDeletionSql(database.schema), [
      EVENTS_PER_STATEMENT,
    ])
    if (Number(deleted?.['runs']) === 0) return
  }
}

/** Builds the statement that deletes up to `$1` events, of a long run its last ones first. */
function eventDeletionSql(schema: string): string {
  return `
    WITH next AS (
      SELECT run, last_seq FROM ${schema}.deleted_runs ORDER BY run LIMIT 1000
      FOR UPDATE SKIP LOCKED
    ), sized AS (
      SELECT run, last_seq, $1 - sum(last_seq + 1) OVER (ORDER BY run) + last_seq + 1 AS room
      FROM next
    ), chunk AS (
      SELECT run, greatest(last_seq - room, -1) AS kept FROM sized WHERE room > 0
    ), gone AS (
      DELETE FROM ${schema}.events USING chunk WHERE events.run = chunk.run AND seq > kept
    ), shortened AS (
      UPDATE ${schema}.deleted_runs SET last_seq = kept FROM chunk
      WHERE deleted_runs.run = chunk.run AND kept >= 0
    ), finished AS (
      DELETE FROM ${schema}.deleted_runs USING chunk
      WHERE deleted_runs.run = chunk.run AND kept < 0
    )
    SELECT count(*) AS runs FROM chunk`
}

function compareEnds(a: PostgresRow, b: PostgresRow): number {
  return Number(a['ended_at']) - Number(b['ended_at']) || Number(a['id']) - Number(b['id'])
}
