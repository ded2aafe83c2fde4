/** Fills the database of a scale test, and puts copied runs into other states of the queue. */
import { fillDatabase } from '../../bench/lib/big-database.ts'
import { query } from '../../bench/lib/query.ts'

import type { Sizes } from './sizes.ts'
import type { PostgresPlace } from '../../bench/lib/runs-places.ts'

/** Number of rows. */
export interface Loaded {
  readonly ended: number
  readonly parked: number
  readonly ready: number
  readonly events: number
  readonly gib: number
}

/** Fills the tables with ended runs, and parks some of them. Parked runs wait for a person without a time limit. */
export async function loadRuns(place: PostgresPlace, sizes: Sizes): Promise<void> {
  await fillDatabase(place, { executed: sizes.executed, copies: sizes.copies })
  await query(
    place.connectionString,
    `UPDATE ${place.schema}.runs SET state = 'parked', status = 'WAITING_REVIEW'
     WHERE id IN (SELECT id FROM ${place.schema}.runs ORDER BY id LIMIT ${sizes.parked})`,
  )
}

/** Makes ended runs wait for an owner; the newest of them have the state `ended` again after `endReady`. */
export async function makeReady(place: PostgresPlace, { ready }: Sizes): Promise<void> {
  await query(
    place.connectionString,
    `UPDATE ${place.schema}.runs SET state = 'ready', status = 'RUNNING',
       due_at = clock_timestamp() - interval '1 hour' + (id % 1000000) * interval '1 ms'
     WHERE id IN (
       SELECT id FROM ${place.schema}.runs WHERE state = 'ended' ORDER BY id DESC LIMIT ${ready})`,
    `VACUUM ANALYZE ${place.schema}.runs`,
  )
}

/** Ends what `makeReady` made ready, and removes the leases of its owners. */
export async function endReady({ connectionString, schema }: PostgresPlace): Promise<void> {
  await query(
    connectionString,
    `UPDATE ${schema}.runs SET state = 'ended', status = 'COMPLETED', owner = NULL, due_at = NULL
     WHERE state IN ('ready', 'owned')`,
    `DELETE FROM ${schema}.leases`,
    `VACUUM ANALYZE ${schema}.runs, ${schema}.slots, ${schema}.leases`,
  )
}

/** Counts the rows. */
export async function countLoaded({ connectionString, schema }: PostgresPlace): Promise<Loaded> {
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
