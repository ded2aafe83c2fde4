/**
 * The leases of processes: one row each, for any number of runs. Renewing is one update of one row.
 *
 * When a lease has expired, its process loses all of its runs: the process that finds the lease makes them ready and
 * deletes it. An expired lease cannot be extended; its process can only start a new one, without runs.
 */
import { SUSPECT_DELAY_MS, SUSPECT_LOSSES } from '../execution/suspects.ts'
import { finiteOrNull } from './numbers.ts'
import { fromColumn, toColumn } from './text.ts'

import type { HeldRun, LeaseOwner } from '../ports/run-queue.ts'
import type { DatabaseSession } from './database.ts'

/** Number of runs that are made ready together, and number of leases that one statement expires. */
const EXPIRED_RUNS = 500
const EXPIRED_LEASES = 10

/** The end of a lease of `$2` milliseconds; null stands for a lease that never expires. */
const LEASE_END = `coalesce(clock_timestamp() + $2::float8 * interval '1 millisecond', 'infinity')`

/**
 * Returns the statement that extends the lease of `$1` to at least `$2` milliseconds from now, or starts it. It returns
 * no row if the lease has expired.
 */
export function extendSql(schema: string): string {
  return `
    INSERT INTO ${schema}.leases (owner, expires_at)
    VALUES ($1, ${LEASE_END})
    ON CONFLICT (owner) DO UPDATE
      SET expires_at = greatest(leases.expires_at, excluded.expires_at)
      WHERE leases.expires_at > clock_timestamp()
    RETURNING owner`
}

/**
 * Returns the assignments that take a run from its owner, who has lost it at the instant `lostAt`. It is due since then.
 * A suspect is due after its delay (RUNS-L12).
 */
export function loseSql(lostAt: string): string {
  return `
    state = 'ready', owner = NULL, token = gen_random_uuid(), lost_owners = lost_owners + 1,
    due_at = ${lostAt} + CASE WHEN lost_owners + 1 < ${SUSPECT_LOSSES} THEN 0
      ELSE ${SUSPECT_DELAY_MS} * power(lost_owners, 2) END * interval '1 millisecond'`
}

/**
 * Returns the statement that sets the end of the lease of `$1` to `$2` milliseconds from now. It returns a row for each
 * run of the owner, one without a run if it has none, and one without an owner if it has no lease, or an expired one.
 */
export function renewSql(schema: string): string {
  return `
    WITH lease AS (
      UPDATE ${schema}.leases SET expires_at = ${LEASE_END}
      WHERE owner = $1 AND expires_at > clock_timestamp()
      RETURNING owner
    )
    SELECT lease.owner, run_id, token FROM (SELECT) AS one LEFT JOIN lease ON true
    LEFT JOIN ${schema}.runs ON runs.owner = lease.owner AND state = 'owned'`
}

/** Sets the end of the lease to `leaseMs` from now. Returns the runs of the owner; none if its lease had expired. */
export async function renewLease(
  database: DatabaseSession,
  leaseOwner: LeaseOwner,
): Promise<readonly HeldRun[]> {
  const sql = renewSql(database.schema)
  let rows = await database.query(sql, toLease(leaseOwner))
  if (rows[0]?.['owner'] === null) {
    await startLease(database, leaseOwner)
    rows = await database.query(sql, toLease(leaseOwner))
  }
  return rows.flatMap(({ run_id: runId, token }) =>
    typeof runId === 'string' ? [{ runId: fromColumn(runId), token: String(token) }] : [],
  )
}

/** Extends the lease, or starts one. The runs of an expired lease are made ready before. */
export async function startLease(session: DatabaseSession, leaseOwner: LeaseOwner): Promise<void> {
  const sql = extendSql(session.schema)
  const extended = await session.query(sql, toLease(leaseOwner))
  if (extended.length > 0) return
  await expireLeases(session)
  await session.query(sql, toLease(leaseOwner))
}

function toLease({ owner, leaseMs }: LeaseOwner): readonly unknown[] {
  return [toColumn(owner), finiteOrNull(leaseMs)]
}

/** Makes the runs of expired leases ready. Returns their number. */
export async function expireLeases(database: DatabaseSession): Promise<number> {
  for (let total = 0; ;) {
    const [row] = await database.query(expireSql(database.schema))
    const lost = Number(row?.['lost'])
    total += lost
    if (lost === 0) return total
  }
}

/**
 * Builds the statement that makes some runs of expired leases ready. A lease is deleted when none of its runs is left.
 * An owned run with a `due_at` is owned by a process of an earlier version, which has its lease there.
 */
function expireSql(schema: string): string {
  return `
    WITH lapsed AS MATERIALIZED (
      SELECT owner, expires_at FROM ${schema}.leases WHERE expires_at <= clock_timestamp()
      ORDER BY expires_at LIMIT ${EXPIRED_LEASES} FOR UPDATE SKIP LOCKED
    ), lost AS MATERIALIZED (
      SELECT runs.id, lapsed.expires_at FROM lapsed JOIN ${schema}.runs ON runs.owner = lapsed.owner
      WHERE state = 'owned' ORDER BY runs.id LIMIT ${EXPIRED_RUNS} FOR UPDATE OF runs
    ), earlier AS MATERIALIZED (
      SELECT id, due_at AS expires_at FROM ${schema}.runs
      WHERE state = 'owned' AND due_at <= statement_timestamp()
      ORDER BY due_at LIMIT ${EXPIRED_RUNS} FOR UPDATE SKIP LOCKED
    ), expired AS (SELECT * FROM lost UNION SELECT * FROM earlier), changed AS (
      UPDATE ${schema}.runs SET ${loseSql('expired.expires_at')}
      FROM expired WHERE runs.id = expired.id AND runs.id = ANY(ARRAY(SELECT id FROM expired))
      RETURNING runs.id
    ), deleted AS (
      DELETE FROM ${schema}.leases USING lapsed
      WHERE leases.owner = lapsed.owner AND (SELECT count(*) FROM lost) < ${EXPIRED_RUNS}
    )
    SELECT count(*) AS lost FROM changed`
}
