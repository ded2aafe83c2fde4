/** Fills the database of a scale test, and puts copied runs into other states of the queue. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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

/** Number of runs whose state changes in one transaction; a trigger adds each of them to the same total. */
const BATCH = 2_000

/** Fills the tables with ended runs, and parks some of them. Parked runs wait for a person without a time limit. */
export async function loadRuns(place: PostgresPlace, sizes: Sizes): Promise<void> {
  const { executed, copies } = sizes
  const directory = mkdtempSync(join(tmpdir(), 'tutti-load-'))
  // The server runs under another user.
  chmodSync(directory, 0o777)
  try {
    await fillDatabase(place, { executed, copies, directory })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  await query(
    place.connectionString,
    changeRuns(place, {
      set: `state = 'parked', status = 'WAITING_REVIEW'`,
      which: `state = 'ended' ORDER BY id`,
      count: sizes.parked,
    }),
  )
}

/** Makes ended runs wait for an owner; the newest of them have the state `ended` again after `endReady`. */
export async function makeReady(place: PostgresPlace, { ready }: Sizes): Promise<void> {
  await query(
    place.connectionString,
    changeRuns(place, {
      set: `state = 'ready', status = 'RUNNING',
        due_at = clock_timestamp() - interval '1 hour' + (id % 1000000) * interval '1 ms'`,
      which: `state = 'ended' ORDER BY id DESC`,
      count: ready,
    }),
    `VACUUM ANALYZE ${place.schema}.runs`,
  )
}

/** Ends what `makeReady` made ready, and removes the leases of its owners. */
export async function endReady(place: PostgresPlace): Promise<void> {
  const { connectionString, schema } = place
  await query(
    connectionString,
    changeRuns(place, {
      set: `state = 'ended', status = 'COMPLETED', owner = NULL, due_at = NULL`,
      which: `state IN ('ready', 'owned')`,
      count: Infinity,
    }),
    `DELETE FROM ${schema}.leases`,
    `VACUUM ANALYZE ${schema}.runs, ${schema}.slots, ${schema}.leases`,
  )
}

/** Assignments to the rows of some runs, and how many of them to change. */
interface RunChange {
  readonly set: string
  readonly which: string
  readonly count: number
}

/** Builds the statement that changes runs in transactions of {@link BATCH}. */
function changeRuns({ schema }: PostgresPlace, { set, which, count }: RunChange): string {
  const batches = count === Infinity ? 1_000_000 : Math.ceil(count / BATCH)
  return `DO $$ BEGIN
    FOR batch IN 1..${batches} LOOP
      UPDATE ${schema}.runs SET ${set}
      WHERE id IN (SELECT id FROM ${schema}.runs WHERE ${which}
        LIMIT least(${BATCH}, ${Math.min(count, Number.MAX_SAFE_INTEGER)} - (batch - 1) * ${BATCH}::bigint));
      EXIT WHEN NOT FOUND;
      COMMIT;
    END LOOP;
  END $$`
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
