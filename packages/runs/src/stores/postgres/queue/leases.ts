/**
 * The leases of processes: one row each, for any number of runs. Renewing is one update of one row.
 *
 * A lease also says whether its process has a free slot, which ensembles it knows, and its build; `process-waker.ts` wakes
 * processes accordingly. A process without runs has a longer lease, which it renews rarely.
 *
 * When a lease has expired, its process loses all of its runs: the process that finds the lease makes them ready and
 * deletes it, and what the lost process followed. An expired lease cannot be extended; its process can only start a new
 * one, without runs.
 */
import { SUSPECT_DELAY_MS, SUSPECT_LOSSES } from '../../../domain/suspects.ts'
import { CLAIM_KEY, STATE_OF_FOUND } from '../schema/claim-key-sql.ts'
import { channelSql } from '../notifications/notifications.ts'
import { finiteOrNull } from '../../shared/query-numbers.ts'
import { fromColumn, toColumn } from '../database/text.ts'

import type { Fleet, HeldRun, LeaseOwner, RenewalRequest } from '../../../ports/run-queue.ts'
import type { DatabaseSession } from '../database/database.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** Number of runs that are made ready together, and number of leases that one statement expires. */
const EXPIRED_RUNS = 500
const EXPIRED_LEASES = 10

/** Maximum time by which a claim may set the end of a lease later, in milliseconds; it is also at most an eighth of the lease. */
const MAX_SLACK_MS = 500

/** Returns the end of a lease of so many milliseconds from now; null stands for a lease that never expires. */
function leaseEnd(ms: string): string {
  return `coalesce(clock_timestamp() + (${ms})::float8 * interval '1 millisecond', 'infinity')`
}

/** The condition of a run that an owner has. */
function ownedBy(owner: string): string {
  return `runs.owner = ${owner} AND ${STATE_OF_FOUND} = 'owned'`
}

/**
 * Returns the statement that sets the end of the lease of `$1` to `$2` milliseconds from now, or starts it. It returns no
 * row if the lease has expired.
 */
function startSql(schema: string): string {
  return `
    INSERT INTO ${schema}.leases (owner, expires_at) VALUES ($1, ${leaseEnd('$2')})
    ON CONFLICT (owner) DO UPDATE SET expires_at = ${leaseEnd('$2')}
      WHERE leases.expires_at > clock_timestamp()
    RETURNING owner`
}

/** SQL expressions of {@link claimLeaseSql}. */
export interface ClaimedLease {
  readonly owner: string
  readonly leaseMs: string
  readonly idleLeaseMs: string
  readonly hasFreeSlot: string
  readonly ensembles: string
  readonly build: string
  /** Whether the statement has claimed a run. */
  readonly hasClaimed: string
}

/**
 * Returns the parts of a claim that start the lease, or set its end. The row is written only if the lease would end too
 * early, or more than its slack too late, or has changed otherwise: while another transaction holds a snapshot, every
 * written version of the row stays, and claims read all of them. An unchanged row is locked, so that no other process
 * deletes it before the claim is committed.
 *
 * The end is computed when the row is locked, so that of concurrent statements the last one counts. An expired lease is
 * left unchanged.
 */
export function claimLeaseSql(schema: string, lease: ClaimedLease): string {
  const { owner, leaseMs, idleLeaseMs, hasFreeSlot, ensembles, build, hasClaimed } = lease
  const slack = `least((SELECT ms FROM term) / 8, ${MAX_SLACK_MS})`
  const end = leaseEnd(`(SELECT ms FROM term) + ${slack}`)
  return `
    term AS MATERIALIZED (
      SELECT CASE WHEN ${hasClaimed} OR EXISTS (SELECT FROM ${schema}.runs WHERE ${ownedBy(owner)})
        THEN ${leaseMs} ELSE ${idleLeaseMs} END AS ms
    ), lease AS (
      INSERT INTO ${schema}.leases (owner, expires_at, free, ensembles, build)
      VALUES (${owner}, ${end}, ${hasFreeSlot}, ${ensembles}, ${build})
      ON CONFLICT (owner) DO UPDATE
        SET expires_at = ${end}, free = excluded.free, ensembles = excluded.ensembles, build = excluded.build
        WHERE leases.expires_at > statement_timestamp() AND (
          leases.expires_at > excluded.expires_at
          OR leases.expires_at < excluded.expires_at - ${slack} * interval '1 millisecond'
          OR leases.free <> excluded.free OR leases.ensembles IS DISTINCT FROM excluded.ensembles)
    )`
}

/**
 * Returns the query of the row that counts the living processes, and says whether a lease has expired, and in how many
 * milliseconds the next one can, at most a day.
 */
export function fleetSql(schema: string): string {
  return `
    SELECT count(*) FILTER (WHERE expires_at > statement_timestamp()) AS processes,
      count(*) FILTER (WHERE expires_at > statement_timestamp() AND free) AS pollers,
      count(*) FILTER (WHERE expires_at <= statement_timestamp()) > 0 AS has_expired,
      extract(epoch FROM least(min(expires_at), statement_timestamp() + interval '1 day')
        - statement_timestamp()) * 1000 AS next_expiry_ms
    FROM ${schema}.leases`
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
 * Returns the statement that renews the lease of `$1`: to `$2` milliseconds from now, or `$3` if it has no run. `$4` says
 * whether it has a free slot, `$5` names its ensembles, or is null for all, `$6` is its build, or null. The statement returns
 * the row of {@link fleetSql} for each run of the owner, once without a run if it has none, and without an owner if it has
 * no lease, or an expired one.
 */
export function renewSql(schema: string): string {
  return `
    WITH held AS MATERIALIZED (
      SELECT run_id, token FROM ${schema}.runs WHERE ${ownedBy('$1')}
    ), lease AS (
      UPDATE ${schema}.leases SET free = $4::bool, ensembles = $5::text[], build = $6,
        expires_at = ${leaseEnd('CASE WHEN EXISTS (SELECT FROM held) THEN $2::float8 ELSE $3::float8 END')}
      WHERE owner = $1 AND expires_at > clock_timestamp()
      RETURNING owner
    ), fleet AS (${fleetSql(schema)})
    SELECT fleet.*, lease.owner, run_id, token FROM fleet
    LEFT JOIN lease ON true LEFT JOIN held ON lease.owner IS NOT NULL`
}

/** The result of a renewal. */
export interface RenewedLease {
  /** The runs of the owner; none if its lease had expired. */
  readonly held: readonly HeldRun[]
  readonly fleet: Fleet
  /** Whether another lease has expired whose runs are not ready yet. */
  readonly hasExpired: boolean
  /** The ensembles of the runs that were made ready. */
  readonly lost: readonly string[]
}

/** Renews the lease of an owner, or starts one. */
export async function renewLease(
  database: DatabaseSession,
  request: RenewalRequest,
): Promise<RenewedLease> {
  const { owner, leaseMs, idleLeaseMs = leaseMs, hasFreeSlot = false, known } = request
  const sql = renewSql(database.schema)
  const values = [
    toColumn(owner),
    finiteOrNull(leaseMs),
    finiteOrNull(idleLeaseMs),
    hasFreeSlot,
    known?.ensembles.map(toColumn) ?? null,
    known?.code === undefined ? null : toColumn(known.code.build),
  ]
  let rows = await database.query(sql, values)
  let lost: readonly string[] = []
  if (rows[0]?.['owner'] === null) {
    lost = await startLease(database, request)
    rows = await database.query(sql, values)
  }
  const [first] = rows
  return {
    held: rows.flatMap(({ run_id: runId, token }) =>
      typeof runId === 'string' ? [{ runId: fromColumn(runId), token: String(token) }] : [],
    ),
    fleet: toFleet(first),
    hasExpired: first?.['has_expired'] === true,
    lost,
  }
}

/** Reads the counts of {@link fleetSql}. A process that is not counted yet counts itself. */
export function toFleet(row: StoredRow | undefined): Fleet {
  return {
    processes: Math.max(Number(row?.['processes']), 1),
    pollers: Math.max(Number(row?.['pollers']), 1),
  }
}

/**
 * Sets the end of the lease, or starts one. The runs of an expired lease are made ready before; returns the ensembles of
 * all runs that were.
 */
export async function startLease(
  session: DatabaseSession,
  { owner, leaseMs }: LeaseOwner,
): Promise<readonly string[]> {
  const sql = startSql(session.schema)
  const values = [toColumn(owner), finiteOrNull(leaseMs)]
  if ((await session.query(sql, values)).length > 0) return []
  const lost = await expireLeases(session)
  await session.query(sql, values)
  return lost
}

/** Removes the leases without runs of the process that listens on `channel`, and what it follows. */
export async function leaveFleet(database: DatabaseSession, channel: string): Promise<void> {
  const { schema } = database
  await database.query(
    `WITH gone AS (
       DELETE FROM ${schema}.leases WHERE ${channelSql('owner')} = $1
         AND (SELECT id FROM ${schema}.runs WHERE ${ownedBy('leases.owner')} LIMIT 1) IS NULL
     )
     DELETE FROM ${schema}.followers WHERE channel = $1`,
    [channel],
  )
}

/** Makes the runs of expired leases ready. Returns the ensembles of these runs. */
export async function expireLeases(database: DatabaseSession): Promise<readonly string[]> {
  const lost = new Set<string>()
  for (;;) {
    const rows = await database.query(expireSql(database.schema))
    if (rows.length === 0) return [...lost]
    for (const { ensemble } of rows) lost.add(fromColumn(String(ensemble)))
  }
}

/**
 * Builds the statement that makes some runs of expired leases ready, and returns their ensembles. A lease is deleted when
 * none of its runs is left, and what its process followed with it.
 */
function expireSql(schema: string): string {
  return `
    WITH lapsed AS MATERIALIZED (
      SELECT owner, expires_at FROM ${schema}.leases WHERE expires_at <= clock_timestamp()
      ORDER BY expires_at LIMIT ${EXPIRED_LEASES} FOR UPDATE SKIP LOCKED
    ), lost AS MATERIALIZED (
      SELECT runs.id FROM lapsed JOIN ${schema}.runs ON runs.owner = lapsed.owner
      WHERE ${STATE_OF_FOUND} = 'owned' AND runs.owner = ANY(ARRAY(SELECT owner FROM lapsed))
      ORDER BY runs.id LIMIT ${EXPIRED_RUNS} FOR UPDATE OF runs
    ), changed AS (
      UPDATE ${schema}.runs SET ${loseSql('(SELECT expires_at FROM lapsed WHERE lapsed.owner = runs.owner)')}
      WHERE runs.id = ANY(ARRAY(SELECT id FROM lost))
      RETURNING ${CLAIM_KEY} AS ensemble
    ), deleted AS (
      DELETE FROM ${schema}.leases USING lapsed
      WHERE leases.owner = lapsed.owner AND (SELECT count(*) FROM lost) < ${EXPIRED_RUNS}
      RETURNING leases.owner
    ), followers AS (
      DELETE FROM ${schema}.followers
      WHERE channel = ANY(ARRAY(SELECT ${channelSql('owner')} FROM deleted))
    )
    SELECT DISTINCT ensemble FROM changed`
}
