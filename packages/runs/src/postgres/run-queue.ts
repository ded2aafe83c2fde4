/**
 * The run queue in Postgres. Leases are in the rows of the runs.
 *
 * - A claim within the limit holds a lock until its transaction ends, so that the count is exact.
 * - A run whose lease has expired takes a slot, because its owner may still renew it. Only the claim that takes it
 *   over does not count it.
 * - A claim skips rows that are being written; the next claim finds them.
 */
import { toStoreMetrics } from '../store-metrics.ts'
import { SUSPECT_DELAY_MS, SUSPECT_LOSSES } from '../execution/suspects.ts'
import { LOCKS, type DatabaseSession } from './database.ts'
import { clampCount, finiteOrNull } from './numbers.ts'
import { toRunRow, toPendingCommand, type PostgresRunRow } from './rows.ts'
import { fromColumn, toColumn } from './text.ts'

import type {
  ClaimedRun,
  ClaimRequest,
  HeldRun,
  LeaseOwner,
  QueueLoad,
  Release,
  Released,
  RunQueue,
  StoreMetrics,
} from '../ports/run-queue.ts'
import type { PendingCommand } from '../ports/command-queue.ts'
import type { PostgresRow } from './database.ts'
import type { PostgresParts } from './postgres-parts.ts'

const OVER = 'due_at <= statement_timestamp()'

/** The ensemble of the run is known, or the run has been due for long (RUNS-L9). */
const FITS = `($5::text[] IS NULL OR ensemble = ANY($5::text[])
  OR due_at <= statement_timestamp() - $6::float8 * interval '1 millisecond')`

/** Number of lost owners of a run, including the one that a claim would take it from. */
const LOSSES = `(lost_owners + (state = 'owned')::int)`

/** A hundred years in milliseconds; Postgres does not accept an infinite interval. */
const LONGEST_MS = 3.15e12

/** The state of a run for counting: an owned run that waits for a person counts as waiting. */
const KIND = `CASE WHEN state = 'owned' AND waiting THEN 'waiting' ELSE state END`

/** Columns that a claim sets; `$1` is the owner, `$2` its lease in milliseconds or null. */
const TAKE = `
  lost_owners = lost_owners + (state = 'owned')::int, state = 'owned', epoch = epoch + 1,
  token = gen_random_uuid(), write_no = 0, owner = $1, claimed_at = clock_timestamp(), waiting = false,
  due_at = clock_timestamp() + $2 * interval '1 millisecond',
  status = CASE status WHEN 'WAITING_REVIEW' THEN 'RUNNING' ELSE status END`

/** The queue of a Postgres store. */
export class PostgresRunQueue implements RunQueue {
  readonly #parts: PostgresParts

  constructor(parts: PostgresParts) {
    this.#parts = parts
  }

  async claimNext(request: ClaimRequest): Promise<readonly ClaimedRun[]> {
    const { database } = this.#parts
    const { schema } = database
    const { owner, leaseMs, wanted, maxConcurrentRuns, known } = request
    if (wanted <= 0) return []
    const [due] = await database.query(
      `SELECT 1 FROM ${schema}.runs
       WHERE state <> 'ended' AND (state = 'ready' OR ${OVER}) LIMIT 1`,
    )
    if (due === undefined) return []
    return database.transaction({ lock: LOCKS.claim }, async (session) => {
      const rows = await session.query(claimSql(schema), [
        toColumn(owner),
        finiteOrNull(leaseMs),
        clampCount(wanted),
        clampCount(maxConcurrentRuns),
        known?.ensembles.map(toColumn) ?? null,
        Math.min(known?.othersAfterMs ?? 0, LONGEST_MS),
        request.takesSuspect === false ? 0 : 1,
      ])
      const inOrder = rows.toSorted((a, b) => Number(a['place']) - Number(b['place']))
      return this.#toClaimedRuns(session, inOrder)
    })
  }

  async claim(runId: string, { owner, leaseMs }: LeaseOwner): Promise<ClaimedRun | undefined> {
    const [claimed] = await this.#parts.database.transaction({}, async (session) => {
      const rows = await session.query(
        `UPDATE ${session.schema}.runs SET ${TAKE}
         WHERE run_id = $3 AND state IN ('ready', 'parked') RETURNING *`,
        [toColumn(owner), finiteOrNull(leaseMs), toColumn(runId)],
      )
      return this.#toClaimedRuns(session, rows)
    })
    return claimed
  }

  async renew({ owner, leaseMs }: LeaseOwner): Promise<readonly HeldRun[]> {
    const { database } = this.#parts
    const rows = await database.query(
      `WITH held AS (
         SELECT id FROM ${database.schema}.runs WHERE state = 'owned' AND owner = $1
         ORDER BY id FOR UPDATE
       )
       UPDATE ${database.schema}.runs
       SET due_at = clock_timestamp() + $2 * interval '1 millisecond'
       FROM held WHERE runs.id = held.id RETURNING run_id, token`,
      [toColumn(owner), finiteOrNull(leaseMs)],
    )
    return rows.map((row) => ({
      runId: fromColumn(String(row['run_id'])),
      token: String(row['token']),
    }))
  }

  async markWaiting({ runId, token }: HeldRun, isWaiting: boolean): Promise<boolean> {
    const { database } = this.#parts
    const status = isWaiting
      ? `CASE status WHEN 'CANCELLING' THEN status ELSE 'WAITING_REVIEW' END`
      : `CASE status WHEN 'WAITING_REVIEW' THEN 'RUNNING' ELSE status END`
    const rows = await database.query(
      `UPDATE ${database.schema}.runs SET waiting = $3, status = ${status}
       WHERE run_id = $1 AND token = $2 AND state = 'owned' RETURNING id`,
      [toColumn(runId), token, isWaiting],
    )
    return rows.length > 0
  }

  async release(held: HeldRun, how: Release): Promise<Released> {
    const { database } = this.#parts
    const became = await database.transaction({}, (session) => this.#release(session, held, how))
    if (became === 'ready' || became === 'lost') this.#notifyReady()
    return became
  }

  async reclaimAll(): Promise<readonly string[]> {
    const { database } = this.#parts
    const rows = await database.transaction({}, (session) =>
      // Runs that lost their owner come before all waiting runs, as if they had been due since 1970. The delay of a
      // suspect starts now.
      session.query(
        `WITH held AS (
           SELECT id FROM ${session.schema}.runs WHERE state = 'owned' ORDER BY id FOR UPDATE
         )
         UPDATE ${session.schema}.runs
         SET state = 'ready', owner = NULL, lost_owners = lost_owners + 1,
           due_at = CASE WHEN lost_owners + 1 < ${SUSPECT_LOSSES} THEN 'epoch' ELSE clock_timestamp() END
         FROM held WHERE runs.id = held.id RETURNING run_id, runs.id`,
      ),
    )
    if (rows.length > 0) this.#notifyReady()
    return rows
      .toSorted((a, b) => Number(a['id']) - Number(b['id']))
      .map((row) => fromColumn(String(row['run_id'])))
  }

  async load(): Promise<QueueLoad> {
    const { requests } = this.#parts
    const rows = await requests.query(
      `SELECT ${KIND} AS kind, count(*) AS count FROM ${requests.schema}.runs
       WHERE state <> 'ended' GROUP BY kind`,
    )
    const counts = new Map(rows.map((row) => [row['kind'], Number(row['count'])]))
    const of = (state: PostgresRunRow['state'] | 'waiting'): number => counts.get(state) ?? 0
    return {
      running: of('owned'),
      queued: of('ready'),
      waiting: of('waiting'),
      parked: of('parked'),
    }
  }

  async metrics(): Promise<StoreMetrics> {
    const { requests } = this.#parts
    const { schema } = requests
    // A reclaimed run is due since 1970; its waiting time starts at its creation.
    const rows = await requests.query(
      `SELECT ${KIND} AS kind, status, count(*) AS count,
         max(extract(epoch FROM statement_timestamp()
           - greatest(due_at, to_timestamp(created_at / 1000))) * 1000) AS waited_ms
       FROM ${schema}.runs WHERE state <> 'ended' GROUP BY 1, 2
       UNION ALL SELECT 'reviews', NULL, count(*), 0 FROM ${schema}.reviews WHERE status = 'OPEN'
       UNION ALL SELECT 'deliveries', NULL, count(*), 0 FROM ${schema}.deliveries
         WHERE due_at IS NOT NULL
       UNION ALL SELECT 'notifications', NULL, pg_notification_queue_usage(), 0`,
    )
    return toStoreMetrics(rows)
  }

  /** Releases a run under the lock of its row, under which commands are queued, so that none is missed (RUNS-L5). */
  async #release(
    session: DatabaseSession,
    { runId, token }: HeldRun,
    how: Release,
  ): Promise<Released> {
    const { schema } = session
    const [locked] = await session.query(
      `SELECT id FROM ${schema}.runs
       WHERE run_id = $1 AND token = $2 AND state = 'owned' FOR UPDATE`,
      [toColumn(runId), token],
    )
    if (locked === undefined) return 'fenced'
    if (how.kind === 'parked') {
      const parked = await session.query(
        `UPDATE ${schema}.runs SET state = 'parked', owner = NULL,
           due_at = clock_timestamp() + $2 * interval '1 millisecond',
           status = CASE status WHEN 'CANCELLING' THEN status ELSE 'WAITING_REVIEW' END
         WHERE id = $1 AND NOT EXISTS (
           SELECT 1 FROM ${schema}.signals WHERE run = $1 AND answer IS NULL)
         RETURNING id`,
        [locked['id'], finiteOrNull(how.wakeInMs ?? Infinity)],
      )
      if (parked.length > 0) return 'parked'
    }
    // A lost run stays owned, without an owner and under an expired lease. Later writes of the former owner are fenced.
    const isLost = how.kind === 'lost'
    const change = isLost ? 'token = gen_random_uuid()' : `state = 'ready'`
    await session.query(
      `UPDATE ${schema}.runs SET ${change}, owner = NULL, due_at = clock_timestamp()
       WHERE id = $1`,
      [locked['id']],
    )
    return isLost ? 'lost' : 'ready'
  }

  async #toClaimedRuns(
    session: DatabaseSession,
    rows: readonly PostgresRow[],
  ): Promise<readonly ClaimedRun[]> {
    for (const row of rows) this.#parts.owned.rememberClaimed(row)
    return toClaimedRuns(session, rows)
  }

  #notifyReady(): void {
    const { notifications, sender, sharedChannel } = this.#parts
    notifications.notify([{ kind: 'ready' }])
    sender.send([{ channel: sharedChannel, notification: { kind: 'ready' } }])
  }
}

/**
 * Builds the statement that claims a suspect, then runs with an expired lease up to the limit of runs under a lease,
 * then waiting runs up to the limit of owned runs. Runs that wait for a person take no slot. `$3` is the wanted number,
 * `$4` the limit, `$5` the known ensembles or null for all, `$6` the time in milliseconds that runs of other ensembles
 * must be due, and `$7` the maximum number of suspects, 0 or 1.
 */
function claimSql(schema: string): string {
  return `
    WITH owned AS (
      SELECT count(*) AS total, count(*) FILTER (WHERE due_at IS NULL OR NOT ${OVER}) AS active
      FROM ${schema}.runs WHERE state = 'owned' AND NOT waiting
    ), suspect AS (
      SELECT id, due_at, state, waiting FROM ${schema}.runs
      WHERE lost_owners > 0 AND state <> 'ended' AND ${LOSSES} >= ${SUSPECT_LOSSES} AND ${FITS}
        AND due_at <= statement_timestamp()
          - ${SUSPECT_DELAY_MS} * power(${LOSSES} - 1, 2) * interval '1 millisecond'
        AND (SELECT CASE runs.state WHEN 'owned' THEN active ELSE total END FROM owned) < $4::int8
      ORDER BY due_at, id LIMIT $7::int8
      FOR UPDATE SKIP LOCKED
    ), suspects AS (
      SELECT count(*) AS taken, count(*) FILTER (WHERE state <> 'owned' OR waiting) AS added FROM suspect
    ), lost AS (
      SELECT id, due_at, waiting FROM ${schema}.runs
      WHERE state = 'owned' AND ${OVER} AND ${LOSSES} < ${SUSPECT_LOSSES} AND ${FITS}
      ORDER BY due_at, id
      LIMIT (SELECT greatest(least($3::int8, $4::int8 - active) - taken, 0) FROM owned, suspects)
      FOR UPDATE SKIP LOCKED
    ), waiting AS (
      SELECT id, due_at FROM ${schema}.runs
      WHERE (state = 'ready' OR (state = 'parked' AND ${OVER})) AND ${LOSSES} < ${SUSPECT_LOSSES}
        AND ${FITS} ORDER BY due_at, id
      LIMIT (SELECT greatest(least($3::int8 - taken - (SELECT count(*) FROM lost),
          $4::int8 - total - added - (SELECT count(*) FROM lost WHERE waiting)), 0)
        FROM owned, suspects)
      FOR UPDATE SKIP LOCKED
    ), due AS (
      SELECT id, row_number() OVER (ORDER BY class, due_at, id) AS place FROM (
        SELECT id, due_at, 0 AS class FROM suspect UNION ALL SELECT id, due_at, 1 FROM lost
        UNION ALL SELECT id, due_at, 2 FROM waiting) AS claimed
    )
    UPDATE ${schema}.runs SET ${TAKE} FROM due WHERE runs.id = due.id RETURNING runs.*, due.place`
}

/** Reads the pending commands of claimed rows, in one query. */
async function toClaimedRuns(
  session: DatabaseSession,
  rows: readonly PostgresRow[],
): Promise<readonly ClaimedRun[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row['id'])
  const commandRows = await session.query(
    `SELECT signals.*, run_id FROM ${session.schema}.signals JOIN ${session.schema}.runs
       ON runs.id = run
     WHERE run = ANY($1::int8[]) AND answer IS NULL ORDER BY signals.id`,
    [ids],
  )
  const commands = groupByRun<PendingCommand>(commandRows, toPendingCommand)
  return rows.map((row) => {
    const { id, run, token, lostOwners } = toRunRow(row)
    return { run, token, commands: commands.get(id) ?? [], lostOwners }
  })
}

function groupByRun<T>(
  rows: readonly PostgresRow[],
  to: (row: PostgresRow) => T,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const run = String(row['run'])
    const group = groups.get(run) ?? []
    group.push(to(row))
    groups.set(run, group)
  }
  return groups
}
