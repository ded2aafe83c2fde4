/**
 * The queue of runs. A run is *ready* (waits for an owner), *owned* (under a lease), *parked*
 * (waits for a person, with or without a time limit) or *ended*.
 *
 *   create ─▶ ready ─claim─▶ owned ─▶ ended
 *               ▲              │ release
 *               ├── handed over┤
 *               └─ wake ◀ parked
 *
 * RUNS-L1 A claim raises the epoch and gives the run a new random token. A write of an earlier owner carries another
 *    token and is fenced. Unlike an epoch, a token never recurs, even when the store loses its newest changes, as in a
 *    failover to an asynchronous replica or after a restore.
 * RUNS-L2 A run has one owner at a time. An owner has one lease for all of its runs. A claim and a renewal set its end,
 *    counted from now; a claim may set it up to half a second later, and it may be later while the owner has no run. When
 *    it has expired, the owner has lost all of its runs, and other processes may claim them.
 * RUNS-L3 Over all processes, at most `maxConcurrentRuns` runs are owned. A run that its owner has marked as waiting
 *    for a person or another agent is not counted. If the limit is Infinity, runs are not counted at all.
 * RUNS-L4 Runs that were claimed before come first: those that lost their owner, were handed over, or continue after a
 *    review. Among them, the run that is due the longest comes first. A parked run is due when its time limit has passed.
 *    Every fourth claim of a process takes new runs before them, so that new runs start while thousands continue.
 *    Among new runs, which were never claimed, a higher priority comes first. Within a priority, each claim key
 *    (`domain/claim-key.ts`) has a queue, in which fairness keys take turns, one run each; the runs of a fairness key are in the
 *    order of their submission. The default fairness key is the actor, so runs without keys and actors are in the order of
 *    their submission. Of several queues, the one whose next run is due the longest is next. Delayed runs (RUNS-L18) that
 *    are due form another queue of their priority, in the order of their times.
 * RUNS-L5 A run with a pending command is not parked: it becomes ready.
 * RUNS-L6 The end of the lease of a run's owner counts as a loss of the run. A stored step resets the losses to 0 when
 *    the owner has had the run for {@link SETTLED_AFTER_MS}, and to at most 1 before that.
 * RUNS-L7 The clock of the store measures leases and instants.
 * RUNS-L8 A run that is released as lost is claimed and counted like one whose lease has expired.
 * RUNS-L9 A process claims runs of the ensembles that it knows, and runs of other ensembles only when they have been
 *    due for a while.
 * RUNS-L10 Counting waiting runs reads neither ended nor parked runs.
 * RUNS-L11 The mark lasts until the owner removes it, releases the run, or loses it. The record of a run that is marked as
 *     waiting for reviews, or parked, is WAITING_REVIEW if a caller can decide one of its open reviews, and otherwise
 *     WAITING, unless it is CANCELLING.
 * RUNS-L12 A claim returns at most one suspect (`domain/suspects.ts`), before all others, when the suspect's
 *     delay has passed and the caller takes suspects.
 * RUNS-L13 A run is parked only if the store has its owner's last write. Without it, as after a failover to an
 *     asynchronous replica, the store may not have the review for which the run waits: the run is released as lost.
 * RUNS-L14 The process that makes a run ready is woken if it has a free slot and knows the ensemble, and otherwise one
 *     other such process. A process that has no free slot after its claim, or when it is woken, wakes another one if
 *     due runs remain. Polls find everything else.
 * RUNS-L16 A process that lived but could not reach the store until its lease ended excuses the losses of its runs when it
 *    reaches the store again: they are not counted, because the runs did not cause them.
 * RUNS-L17 The lease of an owner without runs is known too, also of one that executes none.
 * RUNS-L18 A run with a `startAt` is created as parked and is due from then on; until then, only {@link RunQueue.claim} takes
 *    it. A run with a `startBy` whose work has not begun by then is expired: `findExpired` returns it while it is unowned,
 *    and a claim after that time has `isExpired`. The owner of an earlier claim may begin.
 * RUNS-L19 A parked run that is not due costs nothing: no process remembers it, and nothing that a process repeats, counts or
 *    receives reads the runs or the waits of others.
 * RUNS-L20 Parked runs that become due at the same time are claimed as slots become free, and nothing reads the others
 *    meanwhile.
 * RUNS-L15 A claim by an offer claims the offered run if it is due, is not a suspect, and was not claimed since the offer, if
 *    the caller knows its code, and if the limit and the wanted number allow it. Due runs of known code that were claimed
 *    before, and new ones of a higher priority, come first (RUNS-L4): they replace offered runs. Among offered runs,
 *    fairness keys take no turns.
 */
import type { RunStatus } from '@tutti/protocol'
import type { RunRecord } from '../domain/run-record.ts'
import type { PendingCommand } from './command-queue.ts'

/**
 * Decides who may execute a run and write to it. Which process should try is decided by a `Dispatcher`, and always
 * confirmed here.
 */
export interface RunQueue {
  /**
   * Makes the caller the owner of runs that a dispatcher has offered to it, within the limit. Returns one outcome for each
   * offer, in their order.
   */
  claimOffered(offers: readonly Offer[], request: ClaimRequest): Promise<readonly OfferOutcome[]>
  /** Makes the caller the owner of one ready or parked run, regardless of the limit; otherwise returns undefined. */
  claim(runId: string, leaseOwner: LeaseOwner): Promise<ClaimedRun | undefined>
  /** Sets the end of an owner's lease, counted from now. Returns the runs that it still owns. */
  renew(request: RenewalRequest): Promise<readonly HeldRun[]>
  /** Marks an owned run as waiting, or removes the mark. Returns false if the caller does not own the run. */
  markWaiting(held: HeldRun, waitsFor: WaitsFor): Promise<boolean>
  /** Releases a run, for other processes to claim at once or when it is due. */
  release(held: HeldRun, how: Release): Promise<Released>
  /**
   * Takes back the losses of runs that the caller has claimed: a run that it still owns is released, and one that another
   * process has claimed once since then loses one loss.
   */
  excuse(lost: readonly LostRun[]): Promise<void>
  /**
   * Whether an owner has a lease that has not ended (RUNS-L17). An owner without a lease may live: it gets its first lease
   * shortly after its start. Always false in a store that is not shared.
   */
  hasLease(owner: string): Promise<boolean>
  /**
   * Makes all owned runs ready. Returns the ids of all ready runs, the oldest first. Used at the start of a process that does
   * not share its store.
   */
  reclaimAll(): Promise<readonly string[]>
  /** Finds unowned runs that have expired, the longest first (RUNS-L18). */
  findExpired(limit: number): Promise<ExpiredRuns>
  /** Counts the runs of each state. */
  load(): Promise<QueueLoad>
  /** Counts everything that waits in the store, over all processes. Does not read ended runs. */
  metrics(): Promise<StoreMetrics>
  /** The processes that share the store, as the last claim or renewal of this process counted them. */
  readonly fleet: Fleet
  /**
   * Whether the last claim of this process that looked at all due runs found stranded runs, or held runs of a code that it
   * has (RUNS-Z3, RUNS-Z4). Always true in a store whose claims do not look for them.
   */
  readonly hasStranded: boolean
}

/** Runs that did not begin in time. */
export interface ExpiredRuns {
  readonly runIds: readonly string[]
  /** Time until the next unowned run expires, in milliseconds; Infinity when none will, 0 when more have expired. */
  readonly nextInMs: number
}

/** A run whose lease has ended. */
export interface LostRun extends HeldRun {
  /** Number of claims of the run, with that of its owner. */
  readonly epoch: number
}

/** Numbers of processes with a lease, at least 1 each. */
export interface Fleet {
  readonly processes: number
  /** Those that have a free slot, and so poll. */
  readonly pollers: number
}

/** The process that owns leases, and their duration. */
export interface LeaseOwner {
  /** Unique to the process. */
  readonly owner: string
  /** In milliseconds; Infinity for a store that is not shared. */
  readonly leaseMs: number
  /** Duration of the lease while the owner has no run, in milliseconds. @default leaseMs */
  readonly idleLeaseMs?: number
}

/** A request to renew a lease. */
export interface RenewalRequest extends LeaseOwner {
  /** Whether the owner can take a run now. @default false */
  readonly hasFreeSlot?: boolean
  /** Claim keys of the runs that the owner can execute. @default all */
  readonly known?: KnownEnsembles
}

/** A request for due runs. */
export interface ClaimRequest extends LeaseOwner {
  readonly wanted: number
  readonly maxConcurrentRuns: number
  /** Ensembles that the caller can execute. @default all */
  readonly known?: KnownEnsembles
  /** Whether the caller takes a run that may have killed its process. @default true */
  readonly takesSuspect?: boolean
}

/** A run that waits for an owner. */
export interface Offer {
  readonly runId: string
  /** Number of claims of the run so far. */
  readonly epoch: number
  /** The group of runs to which it belongs; see `domain/claim-key.ts`. */
  readonly claimKey: string
}

/** The outcome of a claim by an offer. */
export type OfferOutcome =
  | { readonly kind: 'claimed'; readonly claim: ClaimedRun }
  /** Another run was claimed, because it comes first (RUNS-L4). The offer still counts: offer its run again. */
  | { readonly kind: 'replaced'; readonly claim: ClaimedRun }
  /** The run is due, but the limit is reached. */
  | { readonly kind: 'full' }
  /** The process that claimed the run after this offer owns it, for so many milliseconds unless it renews its lease. */
  | { readonly kind: 'owned'; readonly forMs: number }
  /** The offer no longer counts. If the run still waits, it has another offer, or a poll finds it. */
  | { readonly kind: 'outdated' }

/** The ensembles of a process. */
export interface KnownEnsembles {
  /** Their names, and the claim keys of their codes (`domain/claim-key.ts`). */
  readonly ensembles: readonly string[]
  /** Build of the process and digest of each ensemble's code (RUNS-Z1). @default codes are ignored */
  readonly code?: ProcessCode
  /** Time that a run of another ensemble must be due before the process may claim it, in milliseconds. */
  readonly othersAfterMs: number
}

export interface ProcessCode {
  readonly build: string
  /** Digest of the code of each ensemble. */
  readonly codes: Readonly<Record<string, string>>
}

/** A run under a claim. */
export interface HeldRun {
  readonly runId: string
  /** The fencing token of the claim. */
  readonly token: string
}

/** A run that the caller has claimed. */
export interface ClaimedRun {
  readonly run: RunRecord
  /** The fencing token of the claim. */
  readonly token: string
  /** Pending commands, in the order in which they were sent. */
  readonly commands: readonly PendingCommand[]
  /** Number of owners in a row that lost the run without progress. */
  readonly lostOwners: number
  /** Whether the run had not begun by its `startBy` when it was claimed (RUNS-L18). @default false */
  readonly isExpired?: boolean
}

/** Reason why an owned run waits: only for reviews, for agents of other processes as well, or for nothing. */
export type WaitsFor = 'reviews' | 'agents' | 'nothing'

/** The way in which a run is released. */
export type Release =
  /** Another process may continue it at once. */
  | { readonly kind: 'ready' }
  /** The same, but the owner failed to store its work. */
  | { readonly kind: 'lost' }
  /**
   * It waits for its open reviews, for `wakeInMs` milliseconds from now; without `wakeInMs`, for ever. `lastWriteNo` is the
   * number of its owner's last write.
   */
  | { readonly kind: 'parked'; readonly wakeInMs?: number; readonly lastWriteNo?: number }

/** The result of a release; `fenced` when the caller did not own the run. */
export type Released = Release['kind'] | 'fenced'

/** Number of unended runs by state, over all processes. */
export interface QueueLoad {
  /** Owned runs that do not wait for a person or another agent. */
  readonly running: number
  readonly queued: number
  /** Owned runs that wait for a person or another agent. */
  readonly waiting: number
  readonly parked: number
}

/** Counts of everything that waits in a store. */
export interface StoreMetrics extends QueueLoad {
  /** Number of runs that have not ended, by status; a status without runs is absent. */
  readonly unfinished: Readonly<Partial<Record<RunStatus, number>>>
  /** Longest time that a due run has waited for an owner, in milliseconds; 0 when none waits. */
  readonly oldestQueuedMs: number
  /** Number of reviews that wait for a decision. */
  readonly openReviews: number
  /** Number of webhook deliveries that are not done. */
  readonly deliveries: number
  /** Used part of the queue of notifications between processes, from 0 to 1; 0 in a store that is not shared. */
  readonly notificationQueueUsage: number
}
