/**
 * The run queue of the embedded store. Only one process has the store, but leases work as in other stores: their
 * duration is that of the claim.
 */
import { toStoreMetrics } from '../../shared/store-metrics.ts'
import { SUSPECT_DELAY_MS, SUSPECT_LOSSES } from '../../../domain/suspects.ts'
import { toClaimKey } from '../../../domain/claim-key.ts'
import { prepareBegunRuns, prepareDueChecker, prepareDueRuns, prepareRoom } from './due-runs.ts'
import { NEW_TOKEN } from '../rows/run-rows.ts'

import type {
  ClaimedRun,
  ClaimRequest,
  HeldRun,
  LostRun,
  LeaseOwner,
  Offer,
  OfferOutcome,
  ProcessCode,
  QueueLoad,
  Release,
  Released,
  RunQueue,
  StoreMetrics,
  WaitsFor,
} from '../../../ports/run-queue.ts'
import type { QueueState, RunRow } from '../../shared/read-records.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** The queue over an open database. */
export class SqliteRunQueue implements RunQueue {
  readonly #parts: SqliteParts
  readonly #due: ReturnType<typeof prepareDueRuns>
  readonly #begun: ReturnType<typeof prepareBegunRuns>
  readonly #findRoom: ReturnType<typeof prepareRoom>
  readonly #isAnyDue: (now: number) => boolean
  readonly #statements: Statements
  readonly fleet = { processes: 1, pollers: 1 }
  readonly hasStranded = true

  constructor(parts: SqliteParts) {
    this.#parts = parts
    this.#due = prepareDueRuns(parts.database)
    this.#begun = prepareBegunRuns(parts.database)
    this.#findRoom = prepareRoom(parts.database)
    this.#isAnyDue = prepareDueChecker(parts.database)
    this.#statements = prepareStatements(parts.database)
  }

  /** Claims due runs; see `Dispatcher.take`. */
  async take(request: ClaimRequest): Promise<readonly ClaimedRun[]> {
    const { clock, inTurn } = this.#parts
    return inTurn(() => {
      const now = Math.ceil(clock.now())
      // Most calls follow the end of a run and find nothing.
      if (!this.#isAnyDue(now)) return []
      this.#statements.expire.run(now)
      return this.#due(request, clock.now()).map((id) =>
        this.#take(id, request, request.known?.code),
      )
    })
  }

  async claimOffered(
    offers: readonly Offer[],
    request: ClaimRequest,
  ): Promise<readonly OfferOutcome[]> {
    const { clock, transaction } = this.#parts
    return transaction(() => {
      this.#statements.expire.run(Math.ceil(clock.now()))
      const now = clock.now()
      let room = Math.min(this.#findRoom(request, now), offers.length)
      const first =
        request.known === undefined || room <= 0 ? [] : this.#begun(request.known, now, room)
      const claims = first.map((id) => this.#take(id, request, request.known?.code))
      room -= claims.length
      const offered = new Set(offers.map(({ runId }) => runId))
      const instead = claims.filter(({ run }) => !offered.has(run.runId))
      return offers.map((offer): OfferOutcome => {
        const claim = claims.find(({ run }) => run.runId === offer.runId)
        if (claim !== undefined) return { kind: 'claimed', claim }
        const outcome = this.#claimOffered(offer, request, room)
        if (outcome.kind === 'claimed') room -= 1
        const other = outcome.kind === 'claimed' ? undefined : instead.shift()
        return other === undefined ? outcome : { kind: 'replaced', claim: other }
      })
    })
  }

  async claim(runId: string, owner: LeaseOwner): Promise<ClaimedRun | undefined> {
    const { rows, transaction } = this.#parts
    return transaction(() => {
      const found = rows.find(runId)
      return found !== undefined && isUnowned(found.state) ? this.#take(found.id, owner) : undefined
    })
  }

  async renew({ owner, leaseMs }: LeaseOwner): Promise<readonly HeldRun[]> {
    const until = this.#inFuture(leaseMs)
    return this.#statements.renew
      .all({ until, owner, now: this.#parts.clock.now() })
      .map((row) => ({
        runId: String(row['run_id']),
        token: String(row['token']),
      }))
  }

  async markWaiting({ runId, token }: HeldRun, waitsFor: WaitsFor): Promise<boolean> {
    const { mark, unmark } = this.#statements
    if (waitsFor === 'people') return mark.run(runId, token).changes > 0
    return unmark.run(waitsFor === 'agents' ? 1 : 0, runId, token).changes > 0
  }

  async release(held: HeldRun, how: Release): Promise<Released> {
    const { hub: board, rows, transaction } = this.#parts
    const became = transaction((): Released => {
      const found = rows.find(held.runId)
      if (found?.state !== 'owned' || found.token !== held.token) return 'fenced'
      const lacksWrite = how.kind === 'parked' && (how.lastWriteNo ?? 0) > found.writeNo
      if (how.kind === 'parked' && !lacksWrite && rows.commands(found.id).length === 0) {
        this.#statements.park.run(this.#inFuture(how.wakeInMs ?? Infinity), found.id)
        return 'parked'
      }
      const isLost = how.kind === 'lost' || lacksWrite
      const { lose, makeReady } = this.#statements
      ;(isLost ? lose : makeReady).run(this.#inFuture(0), found.id)
      return isLost ? 'lost' : 'ready'
    })
    if (became === 'ready' || became === 'lost') board.notify([{ kind: 'ready' }])
    return became
  }

  async excuse(lost: readonly LostRun[]): Promise<void> {
    for (const { runId, token, epoch } of lost) {
      if ((await this.release({ runId, token }, { kind: 'ready' })) !== 'fenced') continue
      this.#statements.excuse.run({ runId, epoch })
    }
  }

  hasLease(): Promise<boolean> {
    return Promise.resolve(false)
  }

  async reclaimAll(): Promise<readonly string[]> {
    const rows = this.#statements.reclaim.all(this.#inFuture(0))
    if (rows.length > 0) this.#parts.hub.notify([{ kind: 'ready' }])
    return rows.map((row) => String(row['run_id']))
  }

  async load(): Promise<QueueLoad> {
    const counts = new Map(
      this.#statements.load.all().map((row) => [row['kind'], Number(row['count'])]),
    )
    const of = (state: QueueState | 'waiting'): number => counts.get(state) ?? 0
    return {
      running: of('owned'),
      queued: of('ready'),
      waiting: of('waiting'),
      parked: of('parked'),
    }
  }

  async metrics(): Promise<StoreMetrics> {
    return toStoreMetrics(this.#statements.metrics.all(this.#parts.clock.now()))
  }

  /** Claims the run of an offer (RUNS-L15) if there is room. The caller holds a transaction. */
  #claimOffered({ runId, epoch }: Offer, request: ClaimRequest, room: number): OfferOutcome {
    const { rows, clock } = this.#parts
    const found = rows.find(runId)
    if (found === undefined) return { kind: 'outdated' }
    const { state, run, dueAt } = found
    if (state === 'owned' && run.epoch === epoch + 1) {
      return { kind: 'owned', forMs: dueAt - clock.now() }
    }
    const { ensembles } = request.known ?? {}
    const isDue = state === 'ready' || (state === 'parked' && dueAt <= clock.now())
    const isClaimable =
      isDue &&
      run.epoch === epoch &&
      found.lostOwners < SUSPECT_LOSSES &&
      ensembles?.includes(toClaimKey(run)) !== false
    if (!isClaimable) return { kind: 'outdated' }
    if (room <= 0) return { kind: 'full' }
    return { kind: 'claimed', claim: this.#take(found.id, request, request.known?.code) }
  }

  /** Makes the owner own the run with that row id. The caller holds a transaction. */
  #take(id: RunRow['id'], { owner, leaseMs }: LeaseOwner, code?: ProcessCode): ClaimedRun {
    const { owned, rows } = this.#parts
    const now = this.#inFuture(0)
    this.#statements.take.run({
      owner,
      until: this.#inFuture(leaseMs),
      now,
      id,
      ...toCodeValues(code),
    })
    const row = rows.get(id)
    owned.rememberClaimed(row)
    const { run, token, lostOwners } = row
    return { run, token, commands: rows.commands(id), lostOwners }
  }

  /** Returns the instant `ms` from now, in whole milliseconds; null for Infinity. */
  #inFuture(ms: number): number | null {
    return ms === Infinity ? null : Math.ceil(this.#parts.clock.now() + ms)
  }
}

/** Returns the values of `build` and `codes` for a claim. */
function toCodeValues(code: ProcessCode | undefined): {
  build: string | null
  codes: string | null
} {
  return {
    build: code?.build ?? null,
    codes: code === undefined ? null : JSON.stringify(code.codes),
  }
}

function isUnowned(state: QueueState): boolean {
  return state === 'ready' || state === 'parked'
}

type Statements = Readonly<
  Record<
    | 'take'
    | 'renew'
    | 'mark'
    | 'unmark'
    | 'park'
    | 'makeReady'
    | 'lose'
    | 'excuse'
    | 'expire'
    | 'reclaim'
    | 'load'
    | 'metrics',
    StatementSync
  >
>

/**
 * Returns the assignments that take a run from its owner, who has lost it at the instant `lostAt`. A suspect is due after
 * its delay (RUNS-L12).
 */
function loseColumns(lostAt: string): string {
  return `state = 'ready', owner = NULL, token = ${NEW_TOKEN}, lost_owners = lost_owners + 1,
    due_at = ${lostAt} + CASE WHEN lost_owners + 1 < ${SUSPECT_LOSSES} THEN 0
      ELSE ${SUSPECT_DELAY_MS} * lost_owners * lost_owners END`
}

/** The state of a run for counting: an owned run that waits for a person counts as waiting. */
const KIND = `CASE WHEN state = 'owned' AND waiting THEN 'waiting' ELSE state END`

/**
 * Prepares the statements. `due_at` is, for a ready run, the time since which it waits; for an owned run, the end of its
 * lease; for a parked run, the time at which it becomes due. NULL means never.
 */
function prepareStatements(database: DatabaseSync): Statements {
  return {
    take: database.prepare(
      `UPDATE runs SET state = 'owned', epoch = epoch + 1, token = ${NEW_TOKEN}, write_no = 0, owner = $owner, due_at = $until, claimed_at = $now, waiting = 0,
         code = coalesce(json_extract($codes, '$.' || json_quote(ensemble)), code),
         build = coalesce($build, build),
         status = CASE WHEN status IN ('WAITING_REVIEW', 'WAITING_FOR_BUILD') THEN 'RUNNING' ELSE status END
       WHERE id = $id`,
    ),
    renew: database.prepare(
      `UPDATE runs SET due_at = $until
       WHERE state = 'owned' AND owner = $owner AND (due_at IS NULL OR due_at > $now)
       RETURNING run_id, token`,
    ),
    mark: database.prepare(
      `UPDATE runs SET waiting = 1,
         status = CASE status WHEN 'CANCELLING' THEN status ELSE 'WAITING_REVIEW' END
       WHERE run_id = ? AND token = ? AND state = 'owned'`,
    ),
    unmark: database.prepare(
      `UPDATE runs SET waiting = ?,
         status = CASE status WHEN 'WAITING_REVIEW' THEN 'RUNNING' ELSE status END
       WHERE run_id = ? AND token = ? AND state = 'owned'`,
    ),
    park: database.prepare(
      `UPDATE runs SET state = 'parked', owner = NULL, due_at = ?,
         status = CASE status WHEN 'CANCELLING' THEN status ELSE 'WAITING_REVIEW' END
       WHERE id = ?`,
    ),
    makeReady: database.prepare(
      `UPDATE runs SET state = 'ready', owner = NULL, due_at = ? WHERE id = ?`,
    ),
    lose: database.prepare(`UPDATE runs SET ${loseColumns('?')} WHERE id = ?`),
    // A lost run is due since the end of the lease.
    excuse: database.prepare(
      `UPDATE runs SET lost_owners = lost_owners - 1
       WHERE run_id = $runId AND epoch BETWEEN $epoch AND $epoch + 1 AND lost_owners > 0 AND state <> 'ended'`,
    ),
    expire: database.prepare(
      `UPDATE runs SET ${loseColumns('due_at')} WHERE state = 'owned' AND due_at <= ?`,
    ),
    // Runs that lost their owner come before all waiting runs, as if they had been due since 1970. The delay of a
    // suspect starts now.
    reclaim: database.prepare(
      `UPDATE runs SET ${loseColumns(`CASE WHEN lost_owners + 1 < ${SUSPECT_LOSSES} THEN 0 ELSE ? END`)}
       WHERE state = 'owned' RETURNING run_id`,
    ),
    load: database.prepare(
      `SELECT ${KIND} AS kind, count(*) AS count FROM runs
       WHERE state IN ('owned', 'ready', 'parked') GROUP BY kind`,
    ),
    // A reclaimed run is due since 1970; its waiting time starts at its creation.
    metrics: database.prepare(
      `SELECT ${KIND} AS kind, status, count(*) AS count,
         max(? - max(coalesce(due_at, 0), created_at)) AS waited_ms
       FROM runs WHERE state IN ('owned', 'ready', 'parked') GROUP BY 1, 2
       UNION ALL SELECT 'reviews', NULL, count(*), 0 FROM reviews WHERE status = 'OPEN'
       UNION ALL SELECT 'deliveries', NULL, count(*), 0 FROM deliveries WHERE due_at IS NOT NULL`,
    ),
  }
}
