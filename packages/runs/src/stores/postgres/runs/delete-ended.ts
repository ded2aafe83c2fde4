/**
 * Deletes ended runs with all their data.
 *
 *   steps, in chunks ──▶ row of the run, tasks, reviews … ──▶ deleted_runs ──▶ events, in chunks
 *
 * RUNS-D7 A run disappears in one transaction, which notes it in `deleted_runs`. Its events, which can no longer be
 *    found, are deleted in statements of a limited size, also after a crash in between. Of all processes, one at
 *    a time deletes beyond a retention.
 */
import { STATE_OF_FOUND } from '../schema/claim-key-sql.ts'
import { LOCKS, type Database, type DatabaseSession } from '../database/database.ts'
import { clampCount, finiteOrNull } from '../../shared/query-numbers.ts'
import { fromColumn, toColumn } from '../database/text.ts'
import { COST_PERIOD_COLUMNS, deleteEmptyCosts, toCostPeriods } from './totals.ts'

import type { Retention, StepRetention } from '../../../ports/run-store.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Number of events or steps that one statement deletes: a fraction of a second, for a run of any length. */
const ROWS_PER_STATEMENT = 10_000

/** Implements `RunStore.deleteEnded`. Returns no id while another process deletes. */
export async function deleteEnded(
  database: Database,
  retention: Retention,
): Promise<readonly string[]> {
  const ids = await chooseEnded(database, retention)
  const rows = ids.length === 0 ? [] : await deleteChosen(database, ids)
  await deleteEvents(database)
  return rows.toSorted(compareEnds).map((row) => fromColumn(String(row['run_id'])))
}

async function deleteChosen(
  database: Database,
  ids: readonly unknown[],
): Promise<readonly StoredRow[]> {
  await deleteStepsOf(database, ids)
  return database.transaction({}, async (session) => {
    if (!(await tryLock(session, database.lockKey))) return []
    const gone = await session.query(`WITH ${deletionSql(session.schema)}`, [ids])
    await deleteEmptyCosts(session, toCostPeriods(gone))
    return gone
  })
}

/** Returns the ids of the runs to delete. Each bound is a range of the index of ended runs. */
async function chooseEnded(
  database: Database,
  { keep, maxAgeMs = Infinity, limit }: Retention,
): Promise<readonly unknown[]> {
  const oldest = (bound: string): string =>
    `(SELECT ended_at, id FROM ${database.schema}.runs WHERE state = 'ended' AND ${bound}
      ORDER BY ended_at, id LIMIT $3)`
  const rows = await database.query(
    `WITH beyond AS (
       SELECT ended_at, id FROM ${database.schema}.runs WHERE state = 'ended'
       ORDER BY ended_at DESC, id DESC OFFSET $1 LIMIT 1
     )
     SELECT id FROM (
       ${oldest('(ended_at, id) <= (SELECT ended_at, id FROM beyond)')}
       UNION ${oldest(`ended_at < statement_timestamp() - $2 * interval '1 millisecond'`)}
     ) AS both_kinds ORDER BY ended_at, id LIMIT $3`,
    [clampCount(keep), finiteOrNull(maxAgeMs), clampCount(limit)],
  )
  return rows.map(({ id }) => id)
}

/** Deletes one run if it has ended. Returns whether it did. */
export async function deleteOne(database: Database, runId: string): Promise<boolean> {
  const { schema } = database
  const found = await database.query(
    `SELECT id FROM ${schema}.runs WHERE run_id = $1 AND ${STATE_OF_FOUND} = 'ended'`,
    [toColumn(runId)],
  )
  const ids = found.map(({ id }) => id)
  if (ids.length === 0) return false
  await deleteStepsOf(database, ids)
  const rows = await database.change(`WITH ${deletionSql(schema)}`, [ids])
  if (rows.length === 0) return false
  await deleteEvents(database)
  const query: DatabaseSession['query'] = (sql, values = []) => database.change(sql, values)
  await deleteEmptyCosts({ schema, query }, toCostPeriods(rows))
  return true
}

/** Number of runs whose steps are deleted in one transaction. */
const RUNS_AT_A_TIME = 100

/**
 * Implements `RunStore.deleteSteps`. Table `trimmed_steps` holds the end and the id of the last run whose steps are
 * deleted, so that earlier runs are not looked at again. Does nothing while another process deletes.
 */
export function deleteSteps(
  database: Database,
  { maxAgeMs, limit }: StepRetention,
): Promise<boolean> {
  return database.transaction({}, async ({ schema, query }) => {
    if (!(await tryLock({ query }, database.lockKey))) return false
    const runs = await query(
      `SELECT id, ended_at::text AS ended_at FROM ${schema}.runs
       WHERE state = 'ended' AND (runs.ended_at, id) > (SELECT ended_at, run FROM ${schema}.trimmed_steps)
         AND runs.ended_at < statement_timestamp() - $1 * interval '1 millisecond'
       ORDER BY runs.ended_at, id LIMIT ${RUNS_AT_A_TIME}`,
      [maxAgeMs],
    )
    const last = runs.at(-1)
    if (last === undefined) return false
    const [deleted] = await query(stepDeletionSql(schema), [runs.map(({ id }) => id), limit])
    if (Number(deleted?.['count']) === limit) return true
    await query(`UPDATE ${schema}.trimmed_steps SET ended_at = $1::text::timestamptz, run = $2`, [
      last['ended_at'],
      last['id'],
    ])
    return runs.length === RUNS_AT_A_TIME
  })
}

/** Deletes all steps of ended runs, so that the deletion of their rows changes few others. */
async function deleteStepsOf(database: Database, ids: readonly unknown[]): Promise<void> {
  for (;;) {
    const sql = stepDeletionSql(database.schema)
    const [deleted] = await database.change(sql, [ids, ROWS_PER_STATEMENT])
    if (Number(deleted?.['count']) < ROWS_PER_STATEMENT) return
  }
}

/** Builds the statement that deletes up to `$2` steps of the runs `$1`, oldest first within each run. */
function stepDeletionSql(schema: string): string {
  return `
    WITH gone AS (
      DELETE FROM ${schema}.steps WHERE (run, n) IN (
        SELECT run, n FROM ${schema}.steps WHERE run = ANY($1::int8[]) ORDER BY run, n LIMIT $2)
      RETURNING 1
    )
    SELECT count(*) AS count FROM gone`
}

/** Whether no other process deletes ended runs; it then cannot until the end of the transaction. */
async function tryLock(
  { query }: Pick<DatabaseSession, 'query'>,
  lockKey: number,
): Promise<boolean> {
  const [lock] = await query('SELECT pg_try_advisory_xact_lock($1, $2) AS is_free', [
    LOCKS.retention,
    lockKey,
  ])
  return lock?.['is_free'] === true
}

/** Builds the part of a statement that deletes the runs `$1` and notes them; it follows WITH. */
function deletionSql(schema: string): string {
  return `gone AS (
      DELETE FROM ${schema}.runs WHERE id = ANY($1::int8[]) RETURNING id, run_id, last_seq, ended_at,
        ${COST_PERIOD_COLUMNS}
    ), noted AS (
      INSERT INTO ${schema}.deleted_runs (run, last_seq) SELECT id, last_seq FROM gone
    )
    SELECT run_id, ended_at, id, actor_index, period FROM gone`
}

/** Deletes the events of deleted runs, except of those that another process is deleting. */
async function deleteEvents(database: Database): Promise<void> {
  for (;;) {
    const [deleted] = await database.change(eventDeletionSql(database.schema), [ROWS_PER_STATEMENT])
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

function compareEnds(a: StoredRow, b: StoredRow): number {
  return Number(a['ended_at']) - Number(b['ended_at']) || Number(a['id']) - Number(b['id'])
}
