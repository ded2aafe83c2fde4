/** Finds the runs of the embedded store that are due. */
import { SUSPECT_LOSSES } from '../../../domain/suspects.ts'

import { byDue, FITS, idOf } from './due-order.ts'
import { findNewRuns } from './new-runs.ts'

import type { ClaimRequest, KnownEnsembles } from '../../../ports/run-queue.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { SqliteStatements } from '../database/statements.ts'

/** Returns whether a run is, or may be, due; much cheaper than finding it. */
export function isAnyDue(statements: SqliteStatements): boolean {
  const found = statements.run(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM runs WHERE state = 'ready')
       OR EXISTS (SELECT 1 FROM runs WHERE state = 'parked' AND due_at <= $now)
       OR EXISTS (SELECT 1 FROM runs WHERE state = 'owned' AND due_at <= $now)`,
  )
  return found.length > 0
}

/** Returns how many more runs a request may claim (RUNS-L3). */
export function findRoom(
  statements: SqliteStatements,
  { wanted, maxConcurrentRuns }: ClaimRequest,
): number {
  const [active] = statements.run(
    `SELECT (SELECT count(*) FROM runs WHERE state = 'owned' AND due_at IS NULL AND NOT waiting)
       + (SELECT count(*) FROM runs WHERE state = 'owned' AND due_at > $now AND NOT waiting) AS count`,
  )
  const room = maxConcurrentRuns - Number(active?.['count'])
  return Math.min(wanted, room, Number.MAX_SAFE_INTEGER)
}

/**
 * Returns the rows of claimable runs (RUNS-L3, RUNS-L4, RUNS-L9, RUNS-L12). Uses a few statements, each limited to the free
 * slots, with a filter only if necessary. A single statement took ten times as long when no run was due.
 */
export function findDueRuns(
  statements: SqliteStatements,
  request: ClaimRequest,
  { begunFirst }: ClaimOrder,
): readonly number[] {
  const { known, takesSuspect = true } = request
  const room = findRoom(statements, request)
  if (room <= 0) return []
  // The conditions on losses are those of the index of runs with losses.
  const suspects = takesSuspect
    ? readDue(statements, known, {
        room: 1,
        condition: `lost_owners > 0 AND state <> 'ended' AND state IN ('ready', 'parked')
          AND lost_owners >= ${SUSPECT_LOSSES} AND due_at <= $now`,
        index: 'runs_suspected',
      }).map(idOf)
    : []
  const found = [...suspects]
  for (const kind of begunFirst ? ['begun', 'new'] : ['new', 'begun']) {
    const left = room - found.length
    if (left <= 0) break
    found.push(
      ...(kind === 'begun'
        ? findBegunRuns(statements, known, left)
        : findNewRuns(statements, known, { room: left }).map(({ id }) => id)),
    )
  }
  return found
}

export interface ClaimOrder {
  /** Whether runs that were claimed before come before new ones (RUNS-L4). */
  readonly begunFirst: boolean
}

/** Returns the rows of up to `room` due runs that were claimed before (RUNS-L15). */
export function findBegunRuns(
  statements: SqliteStatements,
  known: KnownEnsembles | undefined,
  room: number,
): readonly number[] {
  return BEGUN.flatMap((due) => readDue(statements, known, { ...due, room }))
    .toSorted(byDue)
    .slice(0, room)
    .map(idOf)
}

/** A class of due runs: its condition, and the index that has no other runs. */
interface DueClass {
  readonly condition: string
  /** Named where SQLite would choose the index of states, and read the runs of all classes. */
  readonly index?: string
}

/** Due, previously claimed runs, except suspects. */
const BEGUN: readonly DueClass[] = [
  {
    condition: `state = 'ready' AND epoch > 0 AND lost_owners < ${SUSPECT_LOSSES}`,
    index: 'runs_released',
  },
  {
    condition: `state = 'parked' AND due_at <= $now AND lost_owners < ${SUSPECT_LOSSES} AND epoch > 0`,
    index: 'runs_to_wake',
  },
]

function readDue(
  statements: SqliteStatements,
  known: KnownEnsembles | undefined,
  { room, condition, index }: DueClass & { readonly room: number },
): readonly StoredRow[] {
  return statements.run(
    `SELECT id, due_at FROM runs ${index === undefined ? '' : `INDEXED BY ${index}`} WHERE ${condition} ${known === undefined ? '' : FITS}
     ORDER BY due_at, id LIMIT $1`,
    known === undefined ? [room] : [room, known.ensembles, known.othersAfterMs],
  )
}
