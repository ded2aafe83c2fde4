/** Finds the runs of the embedded store that are due. */
import { SUSPECT_LOSSES } from '../../../domain/suspects.ts'

import { SQLITE_CLAIM_KEY } from '../schema/claim-key-sql.ts'

import type { ClaimRequest, KnownEnsembles } from '../../../ports/run-queue.ts'
import type { DatabaseSync } from 'node:sqlite'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Returns the function that checks whether a run is, or may be, due at `now`; much cheaper than finding it. */
export function prepareDueChecker(database: DatabaseSync): (now: number) => boolean {
  const find = database.prepare(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM runs WHERE state = 'ready')
       OR EXISTS (SELECT 1 FROM runs WHERE state = 'parked' AND due_at <= $now)
       OR EXISTS (SELECT 1 FROM runs WHERE state = 'owned' AND due_at <= $now)`,
  )
  return (now) => find.get({ now }) !== undefined
}

/** Returns the function that counts how many more runs a request may claim at `now` (RUNS-L3). */
export function prepareRoom(
  database: DatabaseSync,
): (request: ClaimRequest, now: number) => number {
  const active = database.prepare(
    `SELECT (SELECT count(*) FROM runs WHERE state = 'owned' AND due_at IS NULL AND NOT waiting)
       + (SELECT count(*) FROM runs WHERE state = 'owned' AND due_at > ? AND NOT waiting) AS count`,
  )
  return ({ wanted, maxConcurrentRuns }, now) => {
    const count = Number(active.get(now)?.['count'])
    return Math.min(wanted, maxConcurrentRuns - count, Number.MAX_SAFE_INTEGER)
  }
}

/** Returns the function that finds the rows of claimable runs at `now` (RUNS-L3, RUNS-L4, RUNS-L9, RUNS-L12). */
export function prepareDueRuns(
  database: DatabaseSync,
): (request: ClaimRequest, now: number) => readonly number[] {
  const findRoom = prepareRoom(database)
  const all = prepareDueReader(database, '')
  const fitting = prepareDueReader(database, FITS)
  return (request, now) => {
    const { known, takesSuspect = true } = request
    const room = findRoom(request, now)
    if (room <= 0) return []
    const suspects = takesSuspect ? 1 : 0
    if (known === undefined) return all({ now, room }, suspects)
    return fitting({ now, room, ...toKnownValues(known, now) }, suspects)
  }
}

/** Returns the function that finds the rows of up to `room` due runs that were claimed before (RUNS-L15). */
export function prepareBegunRuns(
  database: DatabaseSync,
): (known: KnownEnsembles, now: number, room: number) => readonly number[] {
  const read = prepareBegunReader(database, FITS)
  return (known, now, room) => read({ now, room, ...toKnownValues(known, now) }).map(idOf)
}

/** The key of the run is known, or its ensemble is not and it has been due for long (RUNS-L9, RUNS-Z2). */
const FITS = `AND (${SQLITE_CLAIM_KEY} IN (SELECT value FROM json_each($known))
  OR (due_at <= $others AND ensemble NOT IN (SELECT value FROM json_each($known))))`

/** Values of the statements; `known` and `others` are those of {@link FITS}. */
interface DueValues {
  readonly now: number
  readonly room: number
  readonly known?: string
  readonly others?: number
}

function toKnownValues(
  { ensembles, othersAfterMs }: KnownEnsembles,
  now: number,
): Required<Pick<DueValues, 'known' | 'others'>> {
  return { known: JSON.stringify(ensembles), others: now - othersAfterMs }
}

/**
 * Uses five statements, each limited to the free slots, with a filter only if necessary. A single statement took ten
 * times as long when no run was due.
 */
function prepareDueReader(
  database: DatabaseSync,
  filter: string,
): (values: DueValues, suspects: number) => readonly number[] {
  const ready = prepareReader(database, `state = 'ready' AND epoch = 0`, filter)
  // The conditions on losses are those of the index of runs with losses.
  const suspected = prepareReader(
    database,
    `lost_owners > 0 AND state <> 'ended' AND state IN ('ready', 'parked')
       AND lost_owners >= ${SUSPECT_LOSSES} AND due_at <= $now`,
    filter,
  )
  const begun = prepareBegunReader(database, filter)
  return ({ now, ...values }, suspects) => {
    const { room } = values
    const suspect = suspects === 0 ? [] : suspected({ ...values, now, room: suspects })
    const first = [...suspect, ...begun({ ...values, now })]
    const others = first.length >= room ? [] : ready(values)
    return [...first, ...others].slice(0, room).map(idOf)
  }
}

/** Prepares the statements that read due, previously claimed runs, except suspects. */
function prepareBegunReader(
  database: DatabaseSync,
  filter: string,
): (values: DueValues) => readonly StoredRow[] {
  const lost = prepareReader(
    database,
    `lost_owners > 0 AND state <> 'ended' AND state = 'ready' AND lost_owners < ${SUSPECT_LOSSES}`,
    filter,
  )
  // The condition of the index of such runs.
  const released = prepareReader(
    database,
    `state = 'ready' AND epoch > 0 AND lost_owners = 0`,
    filter,
  )
  const awake = prepareReader(
    database,
    `state = 'parked' AND due_at <= $now AND lost_owners < ${SUSPECT_LOSSES}`,
    filter,
  )
  return ({ now, ...values }) =>
    [...lost(values), ...released(values), ...awake({ ...values, now })]
      .toSorted(byDue)
      .slice(0, values.room)
}

function prepareReader(
  database: DatabaseSync,
  condition: string,
  filter: string,
): (values: Partial<DueValues>) => StoredRow[] {
  const statement = database.prepare(
    `SELECT id, due_at FROM runs WHERE ${condition} ${filter} ORDER BY due_at, id LIMIT $room`,
  )
  return (values) => statement.all({ ...values })
}

function idOf(row: StoredRow): number {
  return Number(row['id'])
}

/** Compares rows by the time since which they are due, then by creation. */
function byDue(one: StoredRow, other: StoredRow): number {
  return Number(one['due_at']) - Number(other['due_at']) || idOf(one) - idOf(other)
}
