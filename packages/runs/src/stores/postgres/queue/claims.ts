/**
 * Claims due runs in Postgres: those that are due first, or those that a dispatcher has offered.
 *
 * - A claim is one statement (`claim-sql.ts`). It claims nothing while there is an expired lease, whose runs come first.
 * - A claim skips rows that are being written; the next claim finds them.
 */
import { listClaimKeys, toClaimKey } from '../../../domain/claim-key.ts'
import { field } from '../../../domain/field.ts'
import { isBegunFirst, LEVELS } from '../../../domain/priority.ts'
import { SUSPECT_LOSSES } from '../../../domain/suspects.ts'
import { claimOfferedSql, claimSql, offersSql } from './claim-sql.ts'
import { expireLeases, toFleet } from './leases.ts'
import { clampCount, finiteOrNull } from '../../shared/query-numbers.ts'
import { postgresRecords } from '../rows/rows.ts'
import { isExpired } from '../../../domain/start-times.ts'
import { FIRST_NEW_CLASS } from '../schema/claim-key-sql.ts'
import { growSlots } from './slots.ts'
import { fromColumn, toColumn } from '../database/text.ts'

import type {
  ClaimedRun,
  ClaimRequest,
  Fleet,
  Offer,
  OfferOutcome,
} from '../../../ports/run-queue.ts'
import type { NewRun } from '../../../domain/run-record.ts'
import type { Claimant } from '../../../ports/run-store.ts'
import type { CreationClaim } from './creation-claim.ts'
import type { PostgresParts } from '../rows/parts.ts'
import type { StoredRow } from '../../shared/column-reader.ts'

/** A hundred years in milliseconds; Postgres does not accept an infinite interval. */
const MAX_DELAY_MS = 3.15e12

/** Time for each live process after which a claim looks at all due runs and leases again, in milliseconds. */
const LOOK_AGAIN_MS = 1_000

/** Time for each live process after which a claim looks at all new runs again, in milliseconds. */
const START_OVER_MS = 50

/** A position in the order of the new runs of an ensemble and class. */
interface Position {
  readonly ensemble: string
  readonly class: number
  readonly turn: number
  readonly due_at: string
  readonly id: string
}

/** The claims of a process. */
export class PostgresClaims {
  /** The processes that share the store, as the last claim or renewal of this process counted them. */
  fleet: Fleet = { processes: 1, pollers: 1 }
  /** See `RunQueue.hasStranded`. */
  hasStranded = false
  readonly #parts: PostgresParts
  /**
   * The last new run of each ensemble and class that this process claimed. A run that sorts before it can be stored later,
   * with the turn that the first run had: this process knows its own ones, and finds those of others when it starts over.
   */
  readonly #positions = new Map<string, Position>()
  /** Time at which a claim starts at the first new run again. */
  #startOverAt = 0
  /** Number of claims that took runs. */
  #claims = 0
  /** Time at which a claim looks at all due runs and leases again; no lease that it saw expires earlier. */
  #lookAgainAt = 0
  /** The slot after the last that this process took: claims of several processes rarely meet at one slot. */
  #nextSlot = 1
  /** Number of slots that this process knows. */
  #slots = 0
  /** Whether the last creation of runs may have found too few slots. */
  #lacksSlots = true

  constructor(parts: PostgresParts) {
    this.#parts = parts
  }

  /** Claims due runs; see `Dispatcher.take`. */
  async take(request: ClaimRequest): Promise<readonly ClaimedRun[]> {
    if (request.maxConcurrentRuns <= 0) return []
    const claimed: ClaimedRun[] = []
    let ignoresExpired = false
    for (;;) {
      const wanted = request.wanted - claimed.length
      // One attempt takes one suspect, and so do all together.
      const hasSuspect = claimed.some(({ lostOwners }) => lostOwners >= SUSPECT_LOSSES)
      const takesSuspect = request.takesSuspect !== false && !hasSuspect
      const found = await this.#claim({ ...request, wanted, takesSuspect }, ignoresExpired)
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
        await this.expire()
      } else if (found.runs.length < found.room || !(await this.#findSlots(request))) {
        // Nothing more is due after the last claimed run: the next claim looks at all.
        this.#positions.clear()
        if (claimed.length > 0 || found.lookedAtAll) return claimed
      }
    }
  }

  /** Claims the runs of offers; see `RunQueue.claimOffered`. */
  async claimOffered(
    offers: readonly Offer[],
    request: ClaimRequest,
  ): Promise<readonly OfferOutcome[]> {
    const claims = new Map<string, ClaimedRun>()
    const most = Math.min(request.wanted, offers.length)
    while (claims.size < most) {
      const left = offers.filter(({ runId }) => !claims.has(runId))
      const wanted = most - claims.size
      const found = await this.#claimOffered(left, { ...request, wanted })
      for (const claim of found.runs) claims.set(claim.run.runId, claim)
      if (found.runs.length < found.room || !(await this.#findSlots({ ...request, wanted }))) break
    }
    const left = offers.filter(({ runId }) => !claims.has(runId))
    const others = await this.#explain(left, request)
    return toOutcomes(offers, claims, others)
  }

  /** Makes one attempt to claim due runs. */
  async #claim(request: ClaimRequest, ignoresExpired: boolean): Promise<FoundRuns> {
    const { database } = this.#parts
    const { known } = request
    const now = performance.now()
    const looksAtAll = this.#positions.size === 0 || now >= this.#lookAgainAt
    if (looksAtAll) this.#positions.clear()
    const form = { looksAtAll, allEnsembles: looksAtAll || known === undefined }
    const values = this.#toValues(request, ignoresExpired)
    const rows = await database.query(claimSql(database.schema, form), values)
    const [first] = rows
    if (looksAtAll) {
      this.fleet = toFleet(first)
      this.hasStranded = first?.['has_stranded'] === true
      const nextExpiryMs = Number(first?.['next_expiry_ms'])
      this.#lookAgainAt = now + Math.min(LOOK_AGAIN_MS * this.fleet.processes, nextExpiryMs)
    }
    return {
      ...this.#readClaimed(rows),
      hasExpired: first?.['has_expired'] === true,
      lookedAtAll: looksAtAll,
      remaining: toEnsembles(first?.['remaining']),
    }
  }

  /** Makes one attempt to claim the runs of offers. */
  async #claimOffered(offers: readonly Offer[], request: ClaimRequest): Promise<ReadClaim> {
    const { database } = this.#parts
    const values = [
      // No suspect is offered.
      ...this.#toValues({ ...request, takesSuspect: false }, true),
      offers.map(({ runId }) => toColumn(runId)),
      offers.map(({ epoch }) => epoch),
    ]
    return this.#readClaimed(await database.query(claimOfferedSql(database.schema), values))
  }

  /** Returns the parameters of a claim. */
  #toValues(request: ClaimRequest, ignoresExpired: boolean): readonly unknown[] {
    const now = performance.now()
    if (now >= this.#startOverAt) {
      this.#positions.clear()
      this.#startOverAt = now + START_OVER_MS * this.fleet.processes
    }
    const { owner, leaseMs, idleLeaseMs = leaseMs, wanted, maxConcurrentRuns, known } = request
    return [
      toColumn(owner),
      finiteOrNull(leaseMs),
      wanted,
      finiteOrNull(maxConcurrentRuns),
      known?.ensembles.map(toColumn) ?? null,
      Math.min(known?.othersAfterMs ?? 0, MAX_DELAY_MS),
      request.takesSuspect === false ? 0 : 1,
      JSON.stringify([...this.#positions.values()]),
      isBegunFirst(this.#claims),
      this.#nextSlot,
      ignoresExpired,
      finiteOrNull(idleLeaseMs),
      known?.code === undefined ? null : JSON.stringify(known.code.codes),
      known?.code === undefined ? null : toColumn(known.code.build),
    ]
  }

  #readClaimed(rows: readonly StoredRow[]): ReadClaim {
    const taken = rows.filter((row) => row['place'] !== null)
    const lastTaken = taken.at(-1)
    if (lastTaken !== undefined) {
      this.#nextSlot = Number(lastTaken['slot']) + 1
      this.#claims += 1
    }
    for (const row of taken) this.#remember(row)
    return { runs: taken.map((row) => this.toClaimedRun(row)), room: Number(rows[0]?.['room']) }
  }

  /** Remembers the position of a claimed run, if it was new. The last of an ensemble and class comes last. */
  #remember(row: StoredRow): void {
    const position: Position = {
      ensemble: String(row['claim_key']),
      class: Number(row['class']),
      turn: Number(row['was_turn']),
      due_at: String(row['was_due']),
      id: String(row['id']),
    }
    if (position.turn > 0) this.#positions.set(positionKey(position), position)
  }

  /** Makes the next claim find a run that waits, which this process has stored with a turn. */
  lookBefore(run: NewRun, turn: number | undefined): void {
    if (turn === undefined || turn === 0 || this.#positions.size === 0) return
    const ensemble = toColumn(
      toClaimKey({ ensemble: run.ensemble, ...field('code', run.code?.code) }),
    )
    const key = positionKey({ ensemble, class: FIRST_NEW_CLASS + LEVELS[run.priority ?? 'normal'] })
    const position = this.#positions.get(key)
    if (position === undefined || position.turn < turn) return
    this.#positions.set(key, { ...position, turn, due_at: '-infinity', id: '0' })
  }

  /** Returns why runs of offers were not claimed, unless the offers are outdated. Expired leases end here. */
  async #explain(
    offers: readonly Offer[],
    { known }: ClaimRequest,
  ): Promise<ReadonlyMap<string, OfferOutcome>> {
    const outcomes = new Map<string, OfferOutcome>()
    if (offers.length === 0) return outcomes
    const { database } = this.#parts
    const rows = await database.query(offersSql(database.schema), [
      offers.map(({ runId }) => toColumn(runId)),
      offers.map(({ epoch }) => epoch),
      known?.ensembles.map(toColumn) ?? null,
    ])
    for (const row of rows) {
      const forMs = Number(row['owned_for_ms'])
      if (row['is_due'] === true) outcomes.set(fromColumn(String(row['run_id'])), { kind: 'full' })
      else if (forMs > 0) outcomes.set(fromColumn(String(row['run_id'])), { kind: 'owned', forMs })
    }
    // Their runs become ready, with other offers.
    if (rows.some((row) => Number(row['owned_for_ms'] ?? 1) <= 0)) await this.expire()
    return outcomes
  }

  /** Makes the runs of expired leases ready, of this process and of others. */
  async expire(): Promise<void> {
    this.#parts.waker.wake(await expireLeases(this.#parts.database))
  }

  /** Returns the claim of runs that are being created. Adds rows of slots if the last creation found too few. */
  async planCreation(claimant: Claimant, wanted: number): Promise<CreationClaim> {
    const { maxConcurrentRuns } = claimant
    const limit = clampCount(maxConcurrentRuns)
    if (this.#lacksSlots && maxConcurrentRuns !== Infinity && this.#slots < limit) {
      this.#slots = await growSlots(this.#parts.database, { wanted, limit })
    }
    if (this.#nextSlot > this.#slots) this.#nextSlot = 1
    return { claimant, wanted, fromSlot: this.#nextSlot }
  }

  /** Reads the rows of runs that were created with a claim. Returns the claims by row id. */
  readCreated(rows: readonly StoredRow[], { claimant, wanted }: CreationClaim) {
    const claimed = rows.filter((row) => row['owner'] !== null)
    this.#lacksSlots = claimed.length < wanted
    this.#nextSlot = this.#lacksSlots ? 1 : Number(claimed.at(-1)?.['slot'] ?? 0) + 1
    const { hasFreeSlot, code } = claimant
    const ensembles = code === undefined ? undefined : listClaimKeys(code.codes)
    this.#parts.waker.setOwn({ hasFreeSlot, ensembles })
    return new Map(claimed.map((row) => [row['id'], this.toClaimedRun(row)]))
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

  /** Reads the row of a run that this process has claimed. */
  toClaimedRun(row: StoredRow): ClaimedRun {
    const claimed = postgresRecords.runRow(row)
    this.#parts.owned.rememberClaimed(claimed)
    const { run, token, lostOwners } = claimed
    // NOTE: casts at the boundary: `commandsSql` builds these rows, and a claim sets `claimed_at`.
    const commands = (row['pending_commands'] ?? []) as readonly StoredRow[]
    return {
      run,
      token,
      commands: postgresRecords.pendingCommands(
        commands.map((command) => ({ ...command, run_id: row['run_id'] })),
      ),
      lostOwners,
      ...(isExpired(run, new Date(row['claimed_at'] as Date | string).getTime())
        ? { isExpired: true }
        : {}),
    }
  }
}

function positionKey(position: Pick<Position, 'ensemble' | 'class'>): string {
  return `${position.class} ${position.ensemble}`
}

/** Returns an outcome for each offer. Runs that were not offered replace those of offers that were not claimed. */
function toOutcomes(
  offers: readonly Offer[],
  claims: ReadonlyMap<string, ClaimedRun>,
  others: ReadonlyMap<string, OfferOutcome>,
): readonly OfferOutcome[] {
  const offered = new Set(offers.map(({ runId }) => runId))
  const instead = [...claims.values()].filter(({ run }) => !offered.has(run.runId))
  return offers.map(({ runId }) => {
    const claim = claims.get(runId)
    if (claim !== undefined) return { kind: 'claimed', claim }
    const other = instead.shift()
    if (other !== undefined) return { kind: 'replaced', claim: other }
    return others.get(runId) ?? { kind: 'outdated' }
  })
}

function toEnsembles(column: unknown): readonly string[] {
  return Array.isArray(column) ? column.map((ensemble) => fromColumn(String(ensemble))) : []
}

/** The result of one attempt to claim runs. */
interface FoundRuns extends ReadClaim {
  /** Whether a lease has expired whose runs are not ready yet. */
  readonly hasExpired: boolean
  /** Whether it looked at all due runs, from the first on. */
  readonly lookedAtAll: boolean
  /** Ensembles that have further due runs. */
  readonly remaining: readonly string[]
}

/** The runs that a statement claimed. */
interface ReadClaim {
  readonly runs: readonly ClaimedRun[]
  /** Number of runs that it could take. */
  readonly room: number
}
