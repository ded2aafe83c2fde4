/**
 * The run queue of the embedded store. Only one process has the store, but leases work as in other stores: their
 * duration is that of the claim.
 */
import { toQueueLoad, toStoreMetrics } from '../../shared/store-metrics.ts'
import { clampCount } from '../../shared/query-numbers.ts'
import { toExpiredRuns } from '../../shared/expired-runs.ts'
import { CLAIMED_STATUS, CONTINUING_STATUS, WAITING_STATUS } from '../../shared/waiting-status.ts'
import { isExpired } from '../../../domain/start-times.ts'
import { sqliteDialect } from '../schema/dialect.ts'
import { SUSPECT_DELAY_MS, SUSPECT_LOSSES } from '../../../domain/suspects.ts'
import { toClaimKey } from '../../../domain/claim-key.ts'
import { claimedCodeSql } from '../../shared/tables/build-store.ts'
import { findBegunRuns, findDueRuns, findRoom, isAnyDue } from './due-runs.ts'
import { findNewRuns } from './new-runs.ts'
import { NEW_TOKEN } from '../rows/run-rows.ts'
import { isBegunFirst, LEVELS } from '../../../domain/priority.ts'

import type {
  ClaimedRun,
  ClaimRequest,
  ExpiredRuns,
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

/**
 * The queue over an open database. `due_at` is, for a ready run, the time since which it waits; for an owned run, the end
 * of its lease; for a parked run, the time at which it becomes due. NULL means never.
 */
export class SqliteRunQueue implements RunQueue {
  readonly #parts: SqliteParts
  readonly fleet = { processes: 1, pollers: 1 }
  readonly hasStranded = true
  /** Number of claims that took runs. */
  #claims = 0

  constructor(parts: SqliteParts) {
    this.#parts = parts
  }

  /** Claims due runs; see `Dispatcher.take`. */
  async take(request: ClaimRequest): Promise<readonly ClaimedRun[]> {
    const { inTurn, statements } = this.#parts
    // Most calls follow the end of a run and find nothing, and need no transaction.
    if (!inTurn.isWaiting && !isAnyDue(statements)) return []
    return inTurn(() => {
      if (!isAnyDue(statements)) return []
      statements.run(EXPIRE)
      const found = findDueRuns(statements, request, { begunFirst: this.#begunFirst })
      return this.#takeAll(found, request)
    })
  }

  async claimOffered(
    offers: readonly Offer[],
    request: ClaimRequest,
  ): Promise<readonly OfferOutcome[]> {
    const { statements, transaction } = this.#parts
    return transaction(() => {
      statements.run(EXPIRE)
      const room = Math.min(findRoom(statements, request), offers.length)
      const checked = offers.map((offer) => this.#check(offer, request))
      const claims = this.#takeAll(this.#choose(checked, request, room), request)
      const ids = new Set(offers.map(({ runId }) => runId))
      const instead = claims.filter(({ run }) => !ids.has(run.runId))
      return offers.map((offer, index): OfferOutcome => {
        const claim = claims.find(({ run }) => run.runId === offer.runId)
        if (claim !== undefined) return { kind: 'claimed', claim }
        const other = instead.shift()
        if (other !== undefined) return { kind: 'replaced', claim: other }
        const one = checked[index]
        return one === undefined || one.kind === 'due' ? { kind: 'full' } : one
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
    const rows = this.#parts.statements.run(
      `UPDATE runs SET due_at = $1
       WHERE state = 'owned' AND owner = $2 AND (due_at IS NULL OR due_at > $now)
       RETURNING run_id, token`,
      [this.#inFuture(leaseMs), owner],
    )
    return rows.map((row) => ({ runId: String(row['run_id']), token: String(row['token']) }))
  }

  async markWaiting({ runId, token }: HeldRun, waitsFor: WaitsFor): Promise<boolean> {
    const status = waitsFor === 'reviews' ? WAITING_STATUS : CONTINUING_STATUS
    const marked = this.#parts.statements.count(
      `UPDATE runs SET waiting = $1, status = ${status}
       WHERE run_id = $2 AND token = $3 AND state = 'owned'`,
      [waitsFor !== 'nothing', runId, token],
    )
    return marked > 0
  }

  async release(held: HeldRun, how: Release): Promise<Released> {
    const { hub: board, owned, rows, statements, transaction } = this.#parts
    // It is known only for its next write under this claim.
    owned.forget(held.runId)
    const became = transaction((): Released => {
      const found = rows.find(held.runId)
      if (found?.state !== 'owned' || found.token !== held.token) return 'fenced'
      const lacksWrite = how.kind === 'parked' && (how.lastWriteNo ?? 0) > found.writeNo
      if (how.kind === 'parked' && !lacksWrite && rows.commands(found.id).length === 0) {
        statements.run(
          `UPDATE runs SET state = 'parked', owner = NULL, due_at = $1, status = ${WAITING_STATUS}
           WHERE id = $2`,
          [this.#inFuture(how.wakeInMs ?? Infinity), found.id],
        )
        return 'parked'
      }
      const isLost = how.kind === 'lost' || lacksWrite
      const columns = isLost ? loseColumns('$now') : `state = 'ready', owner = NULL, due_at = $now`
      statements.run(`UPDATE runs SET ${columns} WHERE id = $1`, [found.id])
      return isLost ? 'lost' : 'ready'
    })
    if (became === 'ready' || became === 'lost') board.notify([{ kind: 'ready' }])
    return became
  }

  async excuse(lost: readonly LostRun[]): Promise<void> {
    for (const { runId, token, epoch } of lost) {
      if ((await this.release({ runId, token }, { kind: 'ready' })) !== 'fenced') continue
      this.#parts.statements.run(
        `UPDATE runs SET lost_owners = lost_owners - 1
         WHERE run_id = $1 AND epoch BETWEEN $2 AND $2 + 1 AND lost_owners > 0 AND state <> 'ended'`,
        [runId, epoch],
      )
    }
  }

  hasLease(): Promise<boolean> {
    return Promise.resolve(false)
  }

  async reclaimAll(): Promise<readonly string[]> {
    // Runs that lost their owner come before all waiting runs, as if they had been due since 1970. The delay of a suspect
    // starts now.
    const lostAt = `CASE WHEN lost_owners + 1 < ${SUSPECT_LOSSES} THEN 0 ELSE $now END`
    const { hub, statements } = this.#parts
    const reclaimed = statements.count(
      `UPDATE runs SET ${loseColumns(lostAt)} WHERE state = 'owned'`,
      [],
    )
    if (reclaimed > 0) hub.notify([{ kind: 'ready' }])
    const ready = statements.run(`SELECT run_id FROM runs WHERE state = 'ready' ORDER BY id`)
    return ready.map((row) => String(sqliteDialect.texts.id(String(row['run_id']))))
  }

  async findExpired(limit: number): Promise<ExpiredRuns> {
    const rows = this.#parts.statements.run(
      `SELECT run_id, start_by - $now AS in_ms FROM runs INDEXED BY runs_to_expire
       WHERE start_by IS NOT NULL AND started_at IS NULL AND state IN ('ready', 'parked')
       ORDER BY start_by LIMIT $1`,
      [clampCount(limit) + 1],
    )
    return toExpiredRuns(rows, limit, sqliteDialect.texts.id)
  }

  async load(): Promise<QueueLoad> {
    return toQueueLoad(
      this.#parts.statements.run(
        `SELECT ${KIND} AS kind, count(*) AS count FROM runs WHERE state = 'owned' GROUP BY kind
         UNION ALL SELECT 'ready', count(*) FROM runs WHERE state = 'ready'
         UNION ALL SELECT 'parked', coalesce(sum(amount), 0) FROM parked_totals`,
      ),
    )
  }

  async metrics(): Promise<StoreMetrics> {
    // A reclaimed run is due since 1970; its waiting time starts at its creation.
    const rows = this.#parts.statements.run(
      `SELECT ${KIND} AS kind, status, count(*) AS count,
         max($now - max(coalesce(due_at, 0), created_at)) AS waited_ms
       FROM runs WHERE state IN ('owned', 'ready') GROUP BY 1, 2
       UNION ALL SELECT 'parked', status, sum(amount), 0 FROM parked_totals GROUP BY status
       UNION ALL SELECT 'reviews', NULL, sum(amount), 0 FROM totals WHERE kind = 'reviews'
       UNION ALL SELECT 'deliveries', NULL, count(*), 0 FROM deliveries WHERE due_at IS NOT NULL`,
    )
    return toStoreMetrics(rows)
  }

  /** Returns the row of an offered run if the caller may claim it (RUNS-L15), otherwise the outcome of its offer. */
  #check({ runId, epoch }: Offer, request: ClaimRequest): CheckedOffer {
    const { rows, clock } = this.#parts
    const found = rows.find(runId)
    if (found === undefined) return { kind: 'outdated' }
    const { id, state, run, dueAt } = found
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
    const begun = this.#begunFirst ? LEVELS.high + 1 : LEVELS.low - 1
    return {
      kind: 'due',
      id: Number(id),
      level: epoch > 0 ? begun : LEVELS[run.priority ?? 'normal'],
    }
  }

  /** Returns the rows of up to `room` runs that offers claim: offered ones, and those that come before them. */
  #choose(
    checked: readonly CheckedOffer[],
    { known }: ClaimRequest,
    room: number,
  ): readonly number[] {
    if (room <= 0) return []
    const { statements } = this.#parts
    const offered = checked.filter((one) => one.kind === 'due')
    const lowest = Math.min(...offered.map(({ level }) => level))
    const begun =
      known === undefined || !this.#begunFirst ? [] : findBegunRuns(statements, known, room)
    const higher =
      known === undefined ? [] : findNewRuns(statements, known, { room, above: lowest })
    const all = [
      ...begun.map((id) => ({ id, level: LEVELS.high + 1 })),
      ...offered,
      ...higher,
    ].toSorted((one, other) => other.level - one.level)
    return [...new Set(all.map(({ id }) => id))].slice(0, room)
  }

  /** Whether the next claim takes runs that were claimed before first (RUNS-L4). */
  get #begunFirst(): boolean {
    return isBegunFirst(this.#claims)
  }

  /** Makes the caller own runs. The caller holds a transaction. */
  #takeAll(ids: readonly number[], request: ClaimRequest): readonly ClaimedRun[] {
    if (ids.length > 0) this.#claims += 1
    return ids.map((id) => this.#take(id, request, request.known?.code))
  }

  /** Makes the owner own the run with that row id. The caller holds a transaction. */
  #take(id: RunRow['id'], { owner, leaseMs }: LeaseOwner, code?: ProcessCode): ClaimedRun {
    const { owned, rows, statements } = this.#parts
    statements.run(
      `UPDATE runs SET state = 'owned', epoch = epoch + 1, token = ${NEW_TOKEN}, write_no = 0, owner = $1,
         due_at = $2, claimed_at = $now, waiting = 0, turn = 0,
         code = ${claimedCodeSql("json_extract($3, '$.' || json_quote(ensemble))")},
         build = coalesce($4, build),
         status = ${CLAIMED_STATUS}
       WHERE id = $5`,
      [owner, this.#inFuture(leaseMs), code && JSON.stringify(code.codes), code?.build, id],
    )
    const row = rows.get(id)
    owned.rememberClaimed(row)
    const { run, token, lostOwners } = row
    return {
      run,
      token,
      commands: rows.commands(id),
      lostOwners,
      ...(isExpired(run, this.#parts.clock.now()) ? { isExpired: true } : {}),
    }
  }

  /** Returns the instant `ms` from now, in whole milliseconds; null for Infinity. */
  #inFuture(ms: number): number | null {
    return ms === Infinity ? null : Math.ceil(this.#parts.clock.now() + ms)
  }
}

function isUnowned(state: QueueState): boolean {
  return state === 'ready' || state === 'parked'
}

/** An offer whose run can be claimed, or its outcome. */
type CheckedOffer =
  | { readonly kind: 'due'; readonly id: number; readonly level: number }
  | Exclude<OfferOutcome, { readonly kind: 'claimed' | 'replaced' }>

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

/** Takes runs from owners whose lease has expired. A lost run is due since the end of the lease. */
const EXPIRE = `UPDATE runs SET ${loseColumns('due_at')} WHERE state = 'owned' AND due_at <= $now`
