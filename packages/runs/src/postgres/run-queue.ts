/**
 * The run queue in Postgres: the row of a run has its state and its owner, `leases.ts` has the lease of each process,
 * and `slots.ts` the limit of running runs.
 *
 * - A claim is one statement (`claim-sql.ts`). It claims nothing while there is an expired lease, whose runs come first.
 * - A run whose owner's lease has expired keeps its slot until it is made ready.
 * - A claim skips rows that are being written; the next claim finds them.
 */
import { toStoreMetrics } from '../store-metrics.ts'
import { SUSPECT_LOSSES } from '../execution/suspects.ts'
import { CLAIM_KEY } from './claim-key-sql.ts'
import { claimSql, commandsSql, TAKE } from './claim-sql.ts'
import { expireLeases, loseSql, renewLease, startLease, toFleet } from './leases.ts'
import { clampCount, finiteOrNull } from './numbers.ts'
import { toRunRow, toPendingCommand, type PostgresRunRow } from './rows.ts'
import { growSlots, takeSlot } from './slots.ts'
import { fromColumn, toColumn } from './text.ts'

import type {
  ClaimedRun,
  ClaimRequest,
  Fleet,
  HeldRun,
  LeaseOwner,
  QueueLoad,
  Release,
  Released,
  RenewalRequest,
  RunQueue,
  StoreMetrics,
} from '../ports/run-queue.ts'
import type { DatabaseSession, PostgresRow } from './database.ts'
import type { PostgresParts } from './postgres-parts.ts'

/** A hundred years in milliseconds; Postgres does not accept an infinite interval. */
const LONGEST_MS = 3.15e12

/** Time for each live process after which a claim looks at all due runs and leases again, in milliseconds. */
const LOOK_AGAIN_MS = 1_000

/** The place of a run before all others. */
const FIRST: Place = { dueAt: '-infinity', id: '0' }

/** A place in the order in which runs are due. */
interface Place {
  readonly dueAt: string
  readonly id: string
}

/** The state of a run for counting: an owned run that waits for a person counts as waiting. */
const KIND = `CASE WHEN state = 'owned' AND waiting THEN 'waiting' ELSE state END`

/** The queue of a Postgres store. */
export class PostgresRunQueue implements RunQueue {
  readonly #parts: PostgresParts
  /** The last run without losses that this process claimed. */
  #last = FIRST
  /** Time at which a claim looks at all due runs and leases again; no lease that it saw expires earlier. */
  #lookAgainAt = 0
  /** The slot after the last that this process took: claims of several processes rarely meet at one slot. */
  #nextSlot = 1
  /** Number of slots that this process knows. */
  #slots = 0
  #fleet: Fleet = { processes: 1, pollers: 1 }

  constructor(parts: PostgresParts) {
    this.#parts = parts
  }

  get fleet(): Fleet {
    return this.#fleet
  }

  async claimNext(request: ClaimRequest): Promise<readonly ClaimedRun[]> {
    if (request.maxConcurrentRuns <= 0) return []
    const claimed: ClaimedRun[] = []
    let ignoresExpired = false
    for (;;) {
      const wanted = request.wanted - claimed.length
      const found = await this.#claim({ ...request, wanted }, ignoresExpired)
      claimed.push(...found.runs)
      const isFull = claimed.length === request.wanted
      this.#parts.waker.setOwn({ hasFreeSlot: !isFull, ensembles: request.known?.ensembles })
      if (isFull) {
        this.#parts.waker.passOn(found.remaining)
        return claimed
      }
      if (found.hasExpired && !ignoresExpired) {
        // Another process may hold an expired lease that it has not deleted yet.
        ignoresExpired = true
        await this.#expire()
      } else if (found.runs.length < found.room || !(await this.#findSlots(request))) {
        // Nothing more is due after the last claimed run: the next claim looks at all.
        this.#last = FIRST
        if (claimed.length > 0 || found.lookedAtAll) return claimed
      }
    }
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
         WHERE run_id = $2 AND state IN ('ready', 'parked')
         RETURNING runs.*, ${commandsSql(schema)} AS pending_commands`,
        [owner, toColumn(runId)],
      )
      if (taken === undefined) return undefined
      await this.#giveSlot(session, taken['id'])
      return this.#toClaimedRun(taken)
    })
    this.#parts.waker.wake(lost)
    return claimed
  }

  async renew(request: RenewalRequest): Promise<readonly HeldRun[]> {
    const { database, waker } = this.#parts
    const { hasFreeSlot = false, known } = request
    waker.setOwn({ hasFreeSlot, ensembles: known?.ensembles })
    const { held, fleet, hasExpired, lost } = await renewLease(database, request)
    this.#fleet = fleet
    waker.wake(lost)
    // Not awaited: the lease of this process is extended first. A poll repeats it if it fails.
    if (hasExpired) void this.#expire().catch(() => undefined)
    return held
  }

  async markWaiting({ runId, token }: HeldRun, isWaiting: boolean): Promise<boolean> {
    const { database } = this.#parts
    const { schema } = database
    const status = isWaiting
      ? `CASE status WHEN 'CANCELLING' THEN status ELSE 'WAITING_REVIEW' END`
      : `CASE status WHEN 'WAITING_REVIEW' THEN 'RUNNING' ELSE status END`
    const sql = `
      UPDATE ${schema}.runs SET waiting = $3, status = ${status}
      WHERE run_id = $1 AND token = $2 AND state = 'owned' RETURNING id, slot`
    const values = [toColumn(runId), token, isWaiting]
    if (isWaiting) return (await database.query(sql, values)).length > 0
    return database.transaction({}, async (session) => {
      const [row] = await session.query(sql, values)
      if (row !== undefined && row['slot'] === null) await this.#giveSlot(session, row['id'])
      return row !== undefined
    })
  }

  async release(held: HeldRun, how: Release): Promise<Released> {
    const { database } = this.#parts
    const { became, woken } = await database.transaction({}, (session) =>
      this.#release(session, held, how),
    )
    this.#parts.waker.wake(woken)
    return became
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
       )
       UPDATE ${schema}.runs SET ${loseSql(lostAt)}
       FROM held WHERE runs.id = held.id RETURNING run_id, runs.id, ${CLAIM_KEY} AS ensemble`,
    )
    this.#parts.waker.wake(rows.map(({ ensemble }) => fromColumn(String(ensemble))))
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
  ): Promise<ReleasedRun> {
    const { schema } = session
    const [locked] = await session.query(
      `SELECT id, ${CLAIM_KEY} AS ensemble, write_no FROM ${schema}.runs
       WHERE run_id = $1 AND token = $2 AND state = 'owned' FOR UPDATE`,
      [toColumn(runId), token],
    )
    if (locked === undefined) return { became: 'fenced', woken: [] }
    const lacksWrite = how.kind === 'parked' && (how.lastWriteNo ?? 0) > Number(locked['write_no'])
    if (how.kind === 'parked' && !lacksWrite) {
      const parked = await session.query(
        `UPDATE ${schema}.runs SET state = 'parked', owner = NULL,
           due_at = clock_timestamp() + $2 * interval '1 millisecond',
           status = CASE status WHEN 'CANCELLING' THEN status ELSE 'WAITING_REVIEW' END
         WHERE id = $1 AND NOT EXISTS (
           SELECT 1 FROM ${schema}.signals WHERE run = $1 AND answer IS NULL)
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

  /** Makes one attempt to claim due runs. */
  async #claim(request: ClaimRequest, ignoresExpired: boolean): Promise<FoundRuns> {
    const { database } = this.#parts
    const { owner, leaseMs, idleLeaseMs = leaseMs, wanted, maxConcurrentRuns, known } = request
    const now = performance.now()
    const looksAtAll = this.#last === FIRST || now >= this.#lookAgainAt
    const last = looksAtAll ? FIRST : this.#last
    const form = { looksAtAll, allEnsembles: looksAtAll || known === undefined }
    const rows = await database.query(claimSql(database.schema, form), [
      toColumn(owner),
      finiteOrNull(leaseMs),
      wanted,
      finiteOrNull(maxConcurrentRuns),
      known?.ensembles.map(toColumn) ?? null,
      Math.min(known?.othersAfterMs ?? 0, LONGEST_MS),
      request.takesSuspect === false ? 0 : 1,
      last.dueAt,
      last.id,
      this.#nextSlot,
      ignoresExpired,
      finiteOrNull(idleLeaseMs),
      known?.code === undefined ? null : JSON.stringify(known.code.codes),
      known?.code === undefined ? null : toColumn(known.code.build),
    ])
    const [first] = rows
    if (looksAtAll) {
      this.#fleet = toFleet(first)
      const nextExpiryMs = Number(first?.['next_expiry_ms'])
      this.#lookAgainAt = now + Math.min(LOOK_AGAIN_MS * this.#fleet.processes, nextExpiryMs)
    }
    const taken = rows.filter((row) => row['place'] !== null)
    const lastTaken = taken.at(-1)
    if (lastTaken?.['class'] === 0) {
      this.#last = { dueAt: String(lastTaken['was_due']), id: String(lastTaken['id']) }
    }
    if (lastTaken !== undefined) this.#nextSlot = Number(lastTaken['slot']) + 1
    return {
      runs: taken.map((row) => this.#toClaimedRun(row)),
      hasExpired: first?.['has_expired'] === true,
      room: Number(first?.['room']),
      lookedAtAll: looksAtAll,
      remaining: toEnsembles(first?.['remaining']),
    }
  }

  /** Makes the runs of expired leases ready, of this process and of others. */
  async #expire(): Promise<void> {
    this.#parts.waker.wake(await expireLeases(this.#parts.database))
  }

  /** Returns whether another attempt may find more free slots. */
  async #findSlots({ wanted, maxConcurrentRuns }: ClaimRequest): Promise<boolean> {
    if (maxConcurrentRuns === Infinity) return false
    if (this.#nextSlot > 1) {
      this.#nextSlot = 1
      return true
    }
    const limit = clampCount(maxConcurrentRuns)
    if (this.#slots >= limit) return false
    const before = this.#slots
    this.#slots = await growSlots(this.#parts.database, { wanted, limit })
    return this.#slots > before
  }

  #toClaimedRun(row: PostgresRow): ClaimedRun {
    const claimed = toRunRow(row)
    this.#parts.owned.rememberClaimed(claimed)
    const { run, token, lostOwners } = claimed
    // NOTE: a cast at the boundary: `commandsSql` builds these rows.
    const commands = (row['pending_commands'] ?? []) as readonly PostgresRow[]
    return {
      run,
      token,
      commands: commands.map((command) => toPendingCommand({ ...command, run_id: row['run_id'] })),
      lostOwners,
    }
  }

  async #giveSlot(session: DatabaseSession, run: unknown): Promise<void> {
    const slot = await takeSlot(session, run)
    await session.query(`UPDATE ${session.schema}.runs SET slot = $2 WHERE id = $1`, [run, slot])
  }
}

function toEnsembles(column: unknown): readonly string[] {
  return Array.isArray(column) ? column.map((ensemble) => fromColumn(String(ensemble))) : []
}

/** The result of a release. */
interface ReleasedRun {
  readonly became: Released
  /** The ensemble of the run, if it became ready. */
  readonly woken: readonly string[]
}

/** The result of one attempt to claim runs. */
interface FoundRuns {
  readonly runs: readonly ClaimedRun[]
  /** Whether a lease has expired whose runs are not ready yet. */
  readonly hasExpired: boolean
  /** Number of runs that it could take. */
  readonly room: number
  /** Whether it looked at all due runs, from the first on. */
  readonly lookedAtAll: boolean
  /** Ensembles that have further due runs. */
  readonly remaining: readonly string[]
}
