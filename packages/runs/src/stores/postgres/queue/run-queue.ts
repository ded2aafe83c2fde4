/**
 * The run queue in Postgres: the row of a run has its state and its owner, `claims.ts` takes due runs, `leases.ts` has the
 * lease of each process, and `slots.ts` the limit of running runs. A run whose owner's lease has expired keeps its slot
 * until it is made ready.
 */
import { toQueueLoad, toStoreMetrics } from '../../shared/store-metrics.ts'
import { SUSPECT_LOSSES } from '../../../domain/suspects.ts'
import { CLAIM_KEY, STATE_OF_FOUND } from '../schema/claim-key-sql.ts'
import { commandsSql, TAKE } from './claim-sql.ts'
import { loseSql, renewLease, startLease } from './leases.ts'
import { clampCount, finiteOrNull } from '../../shared/query-numbers.ts'
import { toExpiredRuns } from '../../shared/expired-runs.ts'
import { CONTINUING_STATUS, WAITING_STATUS } from '../../shared/waiting-status.ts'
import { takeSlot } from './slots.ts'
import { fromColumn, toColumn } from '../database/text.ts'

import type {
  ClaimedRun,
  ClaimRequest,
  ExpiredRuns,
  Fleet,
  HeldRun,
  LostRun,
  LeaseOwner,
  Offer,
  OfferOutcome,
  QueueLoad,
  Release,
  Released,
  RenewalRequest,
  RunQueue,
  StoreMetrics,
  WaitsFor,
} from '../../../ports/run-queue.ts'
import type { PostgresClaims } from './claims.ts'
import type { DatabaseSession } from '../database/database.ts'
import type { PostgresParts } from '../rows/parts.ts'

/** The state of a run for counting: an owned run that waits for a person counts as waiting. */
const KIND = `CASE WHEN state = 'owned' AND waiting THEN 'waiting' ELSE state END`

/** The queue of a Postgres store. */
export class PostgresRunQueue implements RunQueue {
  readonly #parts: PostgresParts
  readonly #claims: PostgresClaims

  constructor(parts: PostgresParts, claims: PostgresClaims) {
    this.#parts = parts
    this.#claims = claims
  }

  get fleet(): Fleet {
    return this.#claims.fleet
  }

  get hasStranded(): boolean {
    return this.#claims.hasStranded
  }

  claimOffered(offers: readonly Offer[], request: ClaimRequest): Promise<readonly OfferOutcome[]> {
    return this.#claims.claimOffered(offers, request)
  }

  async claim(runId: string, leaseOwner: LeaseOwner): Promise<ClaimedRun | undefined> {
    const { database } = this.#parts
    const { schema } = database
    const owner = toColumn(leaseOwner.owner)
    let lost: readonly string[] = []
    const claimed = await database.transaction({}, async (session) => {
      lost = await startLease(session, leaseOwner)
      const [taken] = await session.query(
        `UPDATE ${schema}.runs SET ${TAKE}
         WHERE run_id = $2 AND ${STATE_OF_FOUND} IN ('ready', 'parked')
         RETURNING runs.*, ${commandsSql(schema)} AS pending_commands`,
        [owner, toColumn(runId)],
      )
      if (taken === undefined) return undefined
      await this.#giveSlot(session, taken['id'])
      return this.#claims.toClaimedRun(taken)
    })
    this.#parts.waker.wake(lost)
    return claimed
  }

  async renew(request: RenewalRequest): Promise<readonly HeldRun[]> {
    const { database, waker } = this.#parts
    const { hasFreeSlot = false, known } = request
    waker.setOwn({ hasFreeSlot, ensembles: known?.ensembles })
    const { held, fleet, hasExpired, lost } = await renewLease(database, request)
    this.#claims.fleet = fleet
    waker.wake(lost)
    // Not awaited: the lease of this process is extended first. A poll repeats it if it fails.
    if (hasExpired) void this.#claims.expire().catch(() => undefined)
    return held
  }

  async markWaiting({ runId, token }: HeldRun, waitsFor: WaitsFor): Promise<boolean> {
    const { database } = this.#parts
    const { schema } = database
    const isWaiting = waitsFor !== 'nothing'
    const status = waitsFor === 'reviews' ? WAITING_STATUS : CONTINUING_STATUS
    const sql = `
      UPDATE ${schema}.runs SET waiting = $3, status = ${status}
      WHERE run_id = $1 AND token = $2 AND ${STATE_OF_FOUND} = 'owned' RETURNING id, slot`
    const values = [toColumn(runId), token, isWaiting]
    if (isWaiting) return (await database.query(sql, values)).length > 0
    return database.transaction({}, async (session) => {
      const [row] = await session.query(sql, values)
      if (row !== undefined && row['slot'] === null) await this.#giveSlot(session, row['id'])
      return row !== undefined
    })
  }

  async release(held: HeldRun, how: Release): Promise<Released> {
    const { database, owned } = this.#parts
    // It is known only for its next write under this claim.
    owned.forget(held.runId)
    const { became, woken } = await database.transaction({}, (session) =>
      this.#release(session, held, how),
    )
    this.#parts.waker.wake(woken)
    return became
  }

  async hasLease(owner: string): Promise<boolean> {
    const { database } = this.#parts
    const rows = await database.query(
      `SELECT FROM ${database.schema}.leases WHERE owner = $1 AND expires_at > clock_timestamp()`,
      [owner],
    )
    return rows.length > 0
  }

  async excuse(lost: readonly LostRun[]): Promise<void> {
    const { database } = this.#parts
    for (const { runId, token, epoch } of lost) {
      if ((await this.release({ runId, token }, { kind: 'ready' })) !== 'fenced') continue
      await database.query(
        `UPDATE ${database.schema}.runs SET lost_owners = lost_owners - 1
         WHERE run_id = $1 AND epoch BETWEEN $2 AND $2 + 1 AND lost_owners > 0 AND ${STATE_OF_FOUND} <> 'ended'`,
        [toColumn(runId), epoch],
      )
    }
  }

  async reclaimAll(): Promise<readonly string[]> {
    const { database } = this.#parts
    const { schema } = database
    // Runs that lost their owner come before all waiting runs, as if they had been due since 1970. The delay of a
    // suspect starts now.
    const lostAt = `CASE WHEN lost_owners + 1 < ${SUSPECT_LOSSES} THEN 'epoch' ELSE clock_timestamp() END`
    const rows = await database.query(
      `WITH held AS (
         SELECT id FROM ${schema}.runs WHERE state = 'owned' ORDER BY id FOR UPDATE
       ), reclaimed AS (
         UPDATE ${schema}.runs SET ${loseSql(lostAt)}
         FROM held WHERE runs.id = held.id RETURNING run_id, runs.id, ${CLAIM_KEY} AS ensemble
       )
       SELECT * FROM reclaimed
       UNION ALL SELECT run_id, id, NULL FROM ${schema}.runs WHERE state = 'ready'`,
    )
    const woken = rows.flatMap(({ ensemble }) => (typeof ensemble === 'string' ? [ensemble] : []))
    this.#parts.waker.wake(woken.map(fromColumn))
    return rows
      .toSorted((a, b) => Number(a['id']) - Number(b['id']))
      .map((row) => fromColumn(String(row['run_id'])))
  }

  async findExpired(limit: number): Promise<ExpiredRuns> {
    const { database } = this.#parts
    const rows = await database.query(
      `SELECT run_id, start_by - extract(epoch FROM statement_timestamp()) * 1000 AS in_ms
       FROM ${database.schema}.runs
       WHERE start_by IS NOT NULL AND started_at IS NULL AND state IN ('ready', 'parked')
       ORDER BY start_by LIMIT $1`,
      [clampCount(limit) + 1],
    )
    return toExpiredRuns(rows, limit, fromColumn)
  }

  async load(): Promise<QueueLoad> {
    const { requests } = this.#parts
    return toQueueLoad(await requests.query(loadSql(requests.schema)))
  }

  async metrics(): Promise<StoreMetrics> {
    const { requests } = this.#parts
    return toStoreMetrics(await requests.query(metricsSql(requests.schema)))
  }

  /** Releases a run under the lock of its row, under which commands are queued, so that none is missed (RUNS-L5). */
  async #release(
    session: DatabaseSession,
    { runId, token }: HeldRun,
    how: Release,
  ): Promise<ReleasedRun> {
    const { schema } = session
    const [locked] = await session.query(
      `SELECT id, ${CLAIM_KEY} AS ensemble, write_no FROM ${schema}.runs
       WHERE run_id = $1 AND token = $2 AND ${STATE_OF_FOUND} = 'owned' FOR UPDATE`,
      [toColumn(runId), token],
    )
    if (locked === undefined) return { became: 'fenced', woken: [] }
    const lacksWrite = how.kind === 'parked' && (how.lastWriteNo ?? 0) > Number(locked['write_no'])
    if (how.kind === 'parked' && !lacksWrite) {
      const parked = await session.query(
        `UPDATE ${schema}.runs SET state = 'parked', owner = NULL,
           due_at = clock_timestamp() + $2 * interval '1 millisecond',
           status = ${WAITING_STATUS}
         WHERE id = $1 AND NOT EXISTS (
           SELECT 1 FROM ${schema}.commands WHERE run = $1 AND answer IS NULL)
         RETURNING id`,
        [locked['id'], finiteOrNull(how.wakeInMs ?? Infinity)],
      )
      if (parked.length > 0) return { became: 'parked', woken: [] }
    }
    const isLost = how.kind === 'lost' || lacksWrite
    const change = isLost
      ? loseSql('clock_timestamp()')
      : `state = 'ready', owner = NULL, due_at = clock_timestamp()`
    await session.query(`UPDATE ${schema}.runs SET ${change} WHERE id = $1`, [locked['id']])
    return { became: isLost ? 'lost' : 'ready', woken: [fromColumn(String(locked['ensemble']))] }
  }

  async #giveSlot(session: DatabaseSession, run: unknown): Promise<void> {
    const slot = await takeSlot(session, run)
    await session.query(`UPDATE ${session.schema}.runs SET slot = $2 WHERE id = $1`, [run, slot])
  }
}

/** Runs that wait for an owner or have one; those that are parked have totals. */
const IS_ACTIVE = `state <> 'ended' AND state IN ('owned', 'ready')`

function loadSql(schema: string): string {
  return `
    SELECT ${KIND} AS kind, count(*) AS count FROM ${schema}.runs WHERE ${IS_ACTIVE} GROUP BY kind
    UNION ALL SELECT 'parked', coalesce(sum(amount), 0) FROM ${schema}.parked_totals`
}

/** A reclaimed run is due since 1970; its waiting time starts at its creation. */
function metricsSql(schema: string): string {
  return `
    SELECT ${KIND} AS kind, status, count(*) AS count,
      max(extract(epoch FROM statement_timestamp()
        - greatest(due_at, to_timestamp(created_at / 1000))) * 1000) AS waited_ms
    FROM ${schema}.runs WHERE ${IS_ACTIVE} GROUP BY 1, 2
    UNION ALL SELECT 'parked', status, sum(amount), 0 FROM ${schema}.parked_totals
      GROUP BY status HAVING sum(amount) > 0
    UNION ALL SELECT 'reviews', NULL, sum(amount), 0 FROM ${schema}.totals WHERE kind = 'reviews'
    UNION ALL SELECT 'deliveries', NULL, count(*), 0 FROM ${schema}.deliveries
      WHERE due_at IS NOT NULL
    UNION ALL SELECT 'notifications', NULL, pg_notification_queue_usage(), 0`
}

/** The result of a release. */
interface ReleasedRun {
  readonly became: Released
  /** The ensemble of the run, if it became ready. */
  readonly woken: readonly string[]
}
