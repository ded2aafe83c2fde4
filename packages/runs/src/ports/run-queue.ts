/**
 * Who works on which run. A run is *ready* (waits for an owner), *owned* (under a lease), *parked* (waits
 * for a person, maybe until an instant) or *ended*.
 *
 *   create ─▶ ready ─claim─▶ owned ─▶ ended
 *               ▲              │ release
 *               ├── handed over┤
 *               └─ wake ◀ parked
 *
 * RUNS-L1 A claim raises the epoch: what an earlier owner writes afterwards is fenced.
 * RUNS-L2 A run has one owner at a time. When its lease is over without being renewed, others may claim it.
 * RUNS-L3 At most `maxConcurrentRuns` runs are owned under a lease that is not over, over all processes. A run
 *    whose owner has marked it as waiting for a person is not counted.
 * RUNS-L4 Runs whose owner is lost come first, then those that wait, the oldest first; a parked run is due when
 *    its time is over.
 * RUNS-L5 A run with a pending command is not parked: it becomes ready.
 * RUNS-L6 A claim that takes the run from an owner who never gave it up counts. A step that is kept sets the count
 *    back to 0 when the owner has had the run for {@link SETTLED_AFTER_MS}, and to at most 1 before that.
 * RUNS-L7 Leases and instants are measured by the clock of the store.
 * RUNS-L8 A run that is given up as lost is claimed like one whose lease is over, and counted like it.
 * RUNS-L9 A process is given runs of the ensembles that it knows; of others only when nobody took them for a
 *    while.
 * RUNS-L10 What waits is counted without looking at what has ended.
 * RUNS-L11 The mark lasts until the owner removes it, releases the run, or loses it. The record of a marked run is
 *     WAITING_REVIEW, unless it is CANCELLING.
 * RUNS-L12 A claim gets at most one suspect (`../suspects.ts`), before all others, when the delay of the suspect
 *    is over and the caller takes one.
 */
import type { RunStatus } from '@tutti/protocol'
import type { RunRecord } from '../run-record.ts'
import type { PendingCommand } from './command-queue.ts'

/** Gives runs to those who execute them. */
export interface RunQueue {
  /** Makes the caller the owner of runs that are due, as many as it wants and the limit allows. */
  claimNext(request: ClaimRequest): Promise<readonly ClaimedRun[]>
  /** Makes the caller the owner of one run that is ready or parked, whatever the limit; else undefined. */
  claim(runId: string, holder: Holder): Promise<ClaimedRun | undefined>
  /** Extends the leases of all runs of an owner from now on; gives the runs that it still has. */
  renew(holder: Holder): Promise<readonly HeldRun[]>
  /**
   * Marks an owned run as waiting for a person, or removes the mark; false when the caller does not own the
   * run.
   */
  markWaiting(held: HeldRun, isWaiting: boolean): Promise<boolean>
  /** Gives up a run, for others or until it is due. */
  release(held: HeldRun, how: Release): Promise<Released>
  /** Makes all owned runs ready: for a store that only this process has, when it starts. */
  reclaimAll(): Promise<readonly string[]>
  /** How many runs are owned, ready and parked. */
  load(): Promise<QueueLoad>
  /** What waits in the store, over all processes: one look at what has not ended, however much has. */
  figures(): Promise<StoreFigures>
}

/** Who claims, and for how long. */
export interface Holder {
  /** Unique to the process. */
  readonly owner: string
  /** In milliseconds; Infinity for a store that only this process has. */
  readonly leaseMs: number
}

/** What is claimed. */
export interface ClaimRequest extends Holder {
  readonly wanted: number
  readonly maxConcurrentRuns: number
  /** Which runs the caller can execute. @default all */
  readonly known?: KnownEnsembles
  /** Whether the caller takes a run that may have killed its process. @default true */
  readonly takesSuspect?: boolean
}

/** The ensembles of a process. */
export interface KnownEnsembles {
  readonly ensembles: readonly string[]
  /** How long a run of another ensemble is due before the process is given it, in milliseconds. */
  readonly othersAfterMs: number
}

/** A run under a claim. */
export interface HeldRun {
  readonly runId: string
  readonly epoch: number
}

/** A run that now belongs to the caller. */
export interface ClaimedRun {
  readonly run: RunRecord
  /** Pending commands, in the order in which they were sent. */
  readonly commands: readonly PendingCommand[]
  /** How often in a row the run was taken from a lost owner without having got any further. */
  readonly lostOwners: number
}

/** How a run is given up. */
export type Release =
  /** Somebody else is to go on at once. */
  | { readonly kind: 'ready' }
  /** The same, from an owner who could not keep what it did. */
  | { readonly kind: 'lost' }
  /** It waits for a person; absent, for as long as it takes. In milliseconds from now. */
  | { readonly kind: 'parked'; readonly wakeInMs?: number }

/** What became of a run that is given up; `fenced` when the caller did not have it. */
export type Released = Release['kind'] | 'fenced'

/** How many runs are in which state, over all processes. */
export interface QueueLoad {
  /** Owned runs that do not wait for a person. */
  readonly running: number
  readonly queued: number
  /** Owned runs that wait for a person. */
  readonly waiting: number
  readonly parked: number
}

/** What waits in a store. */
export interface StoreFigures extends QueueLoad {
  /** Runs that have not ended, by status; a status that none has is absent. */
  readonly unfinished: Readonly<Partial<Record<RunStatus, number>>>
  /** How long the run that is due the longest waits for an owner, in milliseconds; 0 when none does. */
  readonly oldestQueuedMs: number
  /** Reviews that wait for a decision. */
  readonly openReviews: number
  /** What webhooks are still to be told. */
  readonly deliveries: number
}
