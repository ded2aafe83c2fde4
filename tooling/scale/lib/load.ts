/** Fills the database of a scale test, and puts copied runs into other states of the queue. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fillDatabase } from '../../bench/lib/big-database.ts'
import { query } from '../../bench/lib/query.ts'

import type { Sizes } from './sizes.ts'
import type { PostgresLocation } from '../../bench/lib/runs-locations.ts'

/** Number of rows. */
export interface Loaded {
  readonly ended: number
  readonly parked: number
  readonly ready: number
  readonly events: number
  readonly gib: number
}

/** Fills the tables with ended runs, and parks some of them. Parked runs wait for a person without a time limit. */
export async function loadRuns(location: PostgresLocation, sizes: Sizes): Promise<void> {
  const { executed, copies } = sizes
  const directory = mkdtempSync(join(tmpdir(), 'tutti-load-'))
  // The server runs under another user.
  chmodSync(directory, 0o777)
  try {
    await fillDatabase(location, { executed, copies, directory })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  await changeRuns(location, {
    set: `state = 'parked', status = 'WAITING_REVIEW'`,
    which: `state = 'ended' ORDER BY id LIMIT ${sizes.parked}`,
  })
}

/** Makes ended runs wait for an owner; the newest of them have the state `ended` again after `endReady`. */
export async function makeReady(location: PostgresLocation, { ready }: Sizes): Promise<void> {
  await changeRuns(location, {
    set: `state = 'ready', status = 'RUNNING',
      due_at = clock_timestamp() - interval '1 hour' + (id % 1000000) * interval '1 ms'`,
    which: `state = 'ended' ORDER BY id DESC LIMIT ${ready}`,
  })
  await query(location.connectionString, `VACUUM ANALYZE ${location.schema}.runs`)
}

/** Ends what `makeReady` made ready, and removes the slots and the leases of its owners. */
export async function endReady(location: PostgresLocation): Promise<void> {
  const { connectionString, schema } = location
  await changeRuns(location, {
    set: `state = 'ended', status = 'COMPLETED', owner = NULL, due_at = NULL, slot = NULL`,
    which: `state IN ('ready', 'owned')`,
  })
  await query(
    connectionString,
    // The limit of the fleet is lower. A claim counts the runs in slots beyond its limit.
    `DELETE FROM ${schema}.slots`,
    `DELETE FROM ${schema}.leases`,
    `VACUUM ANALYZE ${schema}.runs, ${schema}.slots, ${schema}.leases`,
  )
}

/** Assignments to the rows of some runs. */
interface RunChange {
  readonly set: string
  readonly which: string
}

/** Changes runs without the triggers of the store, which add each of them to the same totals, and counts the totals. */
async function changeRuns(
  { connectionString, schema }: PostgresLocation,
  { set, which }: RunChange,
): Promise<void> {
  await query(
    connectionString,
    `SET search_path = ${schema}; SET session_replication_role = replica`,
    `UPDATE runs SET ${set} WHERE id IN (SELECT id FROM runs WHERE ${which})`,
    `DELETE FROM totals WHERE kind IN ('active', 'unfinished')`,
    `INSERT INTO totals (kind, name, period, amount) SELECT 'active', '', 0, count(*) FROM runs
     WHERE state = 'ready' OR (state = 'owned' AND NOT waiting)`,
    `INSERT INTO totals (kind, name, period, amount) SELECT 'unfinished', actor_index, 0, count(*)
     FROM runs WHERE state <> 'ended' AND actor_index IS NOT NULL GROUP BY actor_index`,
    'DELETE FROM parked_totals',
    `INSERT INTO parked_totals (ensemble, build, code, status, amount)
     SELECT ensemble, coalesce(build, ''), coalesce(code, ''), status, count(*) FROM runs
     WHERE state = 'parked' GROUP BY 1, 2, 3, 4`,
  )
}

/** Counts the rows. */
export async function countLoaded({ connectionString, schema }: PostgresLocation): Promise<Loaded> {
  const [row] = await query(
    connectionString,
    `SELECT count(*) FILTER (WHERE state = 'ended') AS ended,
       count(*) FILTER (WHERE state = 'parked') AS parked,
       count(*) FILTER (WHERE state = 'ready') AS ready,
       (SELECT count(*) FROM ${schema}.events) AS events,
       pg_database_size(current_database()) AS bytes
     FROM ${schema}.runs`,
  )
  return {
    ended: Number(row?.['ended']),
    parked: Number(row?.['parked']),
    ready: Number(row?.['ready']),
    events: Number(row?.['events']),
    gib: Number(row?.['bytes']) / 1024 ** 3,
  }
}
