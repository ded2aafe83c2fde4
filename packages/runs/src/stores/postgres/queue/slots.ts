/**
 * The slots of all processes together: one row for each run that may execute at the same time. A free row belongs to no
 * run. The limit of a claim is the number of rows that it may use, so the limit is exact without a lock: a row is taken
 * by one claim only.
 *
 * Rows are created when they are needed. A run that takes a slot regardless of the limit takes any free row, or adds
 * one; claims leave as many rows free as runs are beyond their limit. A trigger of the migration frees the slot of a
 * run that ends, that its owner releases, or that waits for a person.
 */
import type { DatabaseSession } from '../database/database.ts'

/** Minimum number of rows that are created together. */
const GROWTH = 16

/** Number of attempts to add a row; each fails only when another process adds the same row. */
const TRIES = 100

/** Creates rows up to the limit, as many as a claim needs. Returns the number of rows within the limit. */
export async function growSlots(
  database: DatabaseSession,
  { wanted, limit }: { readonly wanted: number; readonly limit: number },
): Promise<number> {
  const { schema } = database
  const [row] = await database.query(
    `WITH last AS (SELECT coalesce(max(n), 0) AS n FROM ${schema}.slots WHERE n <= $2::int8),
     added AS (
       INSERT INTO ${schema}.slots (n)
       SELECT generate_series(last.n + 1, least($2::int8, last.n + $1::int8)) FROM last
       ON CONFLICT DO NOTHING
     )
     SELECT least($2::int8, last.n + $1::int8) AS rows FROM last`,
    [Math.max(wanted, GROWTH), limit],
  )
  return Number(row?.['rows'])
}

/** Takes a slot for a run, regardless of the limit. Returns its number. */
export async function takeSlot(session: DatabaseSession, run: unknown): Promise<number> {
  const { schema } = session
  const [free] = await session.query(
    `UPDATE ${schema}.slots SET run = $1 WHERE n = (
       SELECT n FROM ${schema}.slots WHERE run IS NULL ORDER BY n LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING n`,
    [run],
  )
  if (free !== undefined) return Number(free['n'])
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const [added] = await session.query(
      `INSERT INTO ${schema}.slots (n, run)
       SELECT coalesce(max(n), 0) + 1, $1 FROM ${schema}.slots ON CONFLICT DO NOTHING RETURNING n`,
      [run],
    )
    if (added !== undefined) return Number(added['n'])
  }
  throw new Error(`Found no free slot after ${TRIES} attempts`)
}
