/**
 * The runs of the embedded store that were never claimed, in the order in which they start (RUNS-L4).
 *
 * A queue has the new runs of one claim key and one priority, in the order of their turns. Turns are computed as in Postgres
 * (`stores/postgres/queue/turn-sql.ts`), in the transaction that stores the run.
 */
import { CODE_SEPARATOR } from '../../../domain/claim-key.ts'
import { LEVELS } from '../../../domain/priority.ts'
import {
  SQLITE_CLAIM_KEY,
  SQLITE_FAIRNESS_KEY,
  SQLITE_LEVEL,
  SQLITE_NEW_AND_READY,
} from '../schema/claim-key-sql.ts'
import { byDue, FITS, idOf } from './due-order.ts'

import type { KnownEnsembles } from '../../../ports/run-queue.ts'
import type { StoredRow } from '../../shared/column-reader.ts'
import type { SqliteStatements } from '../database/statements.ts'

/** The numbers of the priorities, the highest first. */
const LEVEL_NUMBERS = Object.values(LEVELS).toSorted((one, other) => other - one)

const NEW_RUNS = `runs INDEXED BY runs_by_turn WHERE ${SQLITE_NEW_AND_READY} AND ${SQLITE_LEVEL}`

/** The first run of each queue: one probe of the index for each queue, and one for each priority. */
const HEADS = `
  WITH RECURSIVE queue (level, claim_key) AS (
    SELECT column1, (
      SELECT ${SQLITE_CLAIM_KEY} FROM ${NEW_RUNS} = column1 ORDER BY ${SQLITE_CLAIM_KEY} LIMIT 1)
    FROM (VALUES ${LEVEL_NUMBERS.map((level) => `(${level})`).join(', ')})
    UNION ALL
    SELECT level, (
      SELECT ${SQLITE_CLAIM_KEY} FROM ${NEW_RUNS} = level AND ${SQLITE_CLAIM_KEY} > claim_key
      ORDER BY ${SQLITE_CLAIM_KEY} LIMIT 1)
    FROM queue WHERE claim_key IS NOT NULL
  )
  SELECT id, due_at, level, claim_key, $now - due_at AS waited_ms FROM (
    SELECT level, claim_key, (
      SELECT id FROM ${NEW_RUNS} = level AND ${SQLITE_CLAIM_KEY} = claim_key ORDER BY turn, due_at, id LIMIT 1) AS head
    FROM queue WHERE claim_key IS NOT NULL) JOIN runs ON id = head`

/** The first runs of a queue. */
const OF_QUEUE = `
  SELECT id, due_at, $now - due_at AS waited_ms FROM ${NEW_RUNS} = $1 AND ${SQLITE_CLAIM_KEY} = $2
  ORDER BY turn, due_at, id LIMIT $3`

/** The due delayed runs of each priority. */
function delayedSql(fits: string): string {
  const ofLevels = LEVEL_NUMBERS.map(
    (level) => `SELECT * FROM (
      SELECT id, due_at, ${level} AS level FROM runs INDEXED BY runs_to_start
      WHERE state = 'parked' AND epoch = 0 AND ${SQLITE_LEVEL} = ${level} AND due_at <= $now ${fits}
      ORDER BY due_at, id LIMIT $1)`,
  )
  return ofLevels.join(' UNION ALL ')
}

/** Runs of one priority, in the order in which they start. */
interface WaitingList {
  readonly level: number
  /** Those that are known, without those that were taken. */
  rows: StoredRow[]
  /** Reads the first rows; absent if no others follow. */
  more?: (() => StoredRow[]) | undefined
}

/** A run that was found, and the number of its priority. */
export interface FoundRun {
  readonly id: number
  readonly level: number
}

/**
 * Returns up to `room` due runs that were never claimed: higher priorities first; within a priority the queue whose first
 * run is due the longest.
 */
export function findNewRuns(
  statements: SqliteStatements,
  known: KnownEnsembles | undefined,
  { room, above = -1 }: { readonly room: number; readonly above?: number },
): readonly FoundRun[] {
  const lists = [
    ...findQueues(statements, known, room),
    ...findDelayed(statements, known, room),
  ].filter(({ level }) => level > above)
  const found: FoundRun[] = []
  while (found.length < room) {
    const [next] = lists.filter(({ rows }) => rows.length > 0).toSorted(byHead)
    const row = next?.rows.shift()
    if (next === undefined || row === undefined) break
    found.push({ id: idOf(row), level: next.level })
    if (next.rows.length === 0 && next.more !== undefined && found.length < room) {
      next.rows = next.more().slice(1)
      next.more = undefined
    }
  }
  return found
}

function byHead(one: WaitingList, other: WaitingList): number {
  return other.level - one.level || byDue(one.rows[0] ?? {}, other.rows[0] ?? {})
}

function findQueues(
  statements: SqliteStatements,
  known: KnownEnsembles | undefined,
  room: number,
): readonly WaitingList[] {
  return statements.run(HEADS).map((head): WaitingList => {
    const level = Number(head['level'])
    const key = String(head['claim_key'])
    const fits = toFilter(known, key)
    return {
      level,
      rows: [head].filter(fits),
      more: () => statements.run(OF_QUEUE, [level, key, room]).filter(fits),
    }
  })
}

/** Returns the filter of the runs of a claim key that a caller may claim (RUNS-L9, RUNS-Z2). */
function toFilter(known: KnownEnsembles | undefined, key: string): (row: StoredRow) => boolean {
  if (known === undefined || known.ensembles.includes(key)) return () => true
  const [ensemble = ''] = key.split(CODE_SEPARATOR)
  if (known.ensembles.includes(ensemble)) return () => false
  return (row) => Number(row['waited_ms']) >= known.othersAfterMs
}

function findDelayed(
  statements: SqliteStatements,
  known: KnownEnsembles | undefined,
  room: number,
): readonly WaitingList[] {
  const rows = statements.run(
    delayedSql(known === undefined ? '' : FITS),
    known === undefined ? [room] : [room, known.ensembles, known.othersAfterMs],
  )
  return LEVEL_NUMBERS.map((level) => ({
    level,
    rows: rows.filter((row) => Number(row['level']) === level),
  }))
}

/** The fields of a run that decide its turn. */
export interface QueuedRun {
  readonly claimKey: string
  readonly level: number
  /** In the form of its column. */
  readonly fairnessKey: string
}

/** Returns the turn of a new run that is ready. */
export function findTurn(
  statements: SqliteStatements,
  { level, claimKey, fairnessKey }: QueuedRun,
): number {
  const [row] = statements.run(
    `SELECT coalesce((
       SELECT max(turn, coalesce(1 + (
         SELECT turn FROM runs INDEXED BY runs_by_fairness_key
         WHERE ${SQLITE_NEW_AND_READY} AND ${SQLITE_LEVEL} = $1 AND ${SQLITE_CLAIM_KEY} = $2
           AND ${SQLITE_FAIRNESS_KEY} = $3 ORDER BY turn DESC LIMIT 1), 0))
       FROM (SELECT turn FROM ${NEW_RUNS} = $1 AND ${SQLITE_CLAIM_KEY} = $2 AND turn > 0
         ORDER BY turn, due_at, id LIMIT 1)
     ), $now) AS turn`,
    [level, claimKey, fairnessKey],
  )
  return Number(row?.['turn'])
}
