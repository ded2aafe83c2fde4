/**
 * The store of runs and their records. `stores/` holds the adapters; each passes the cases of `testing/`.
 *
 * RUNS-P1 `create` writes the run and its first event in one transaction. A repeated submission returns the existing
 *    run.
 * RUNS-P2 A write under an earlier claim, or one that the store does not know, changes nothing and returns `fenced`.
 * RUNS-P3 The store assigns sequence numbers: from 0, without gaps, in the order of writing.
 * RUNS-P4 The events, steps and answers of a write and the resulting state are stored in one transaction.
 * RUNS-P5 A write that cannot be stored does not affect the others of its batch.
 * RUNS-P6 An ended run has no pending commands and no open reviews.
 * RUNS-P7 A write that is sent again, because its first reply was lost, is stored once.
 * RUNS-P8 A write to an unowned run is stored only if the run is still unowned and unchanged.
 * RUNS-P9 Runs are deleted with all their data, the oldest first, and only when they have ended.
 * RUNS-P10 Webhook deliveries are stored in one transaction with their events.
 * RUNS-P11 The quota of an actor counts the stored runs of all processes. Concurrent submits cannot exceed it.
 * RUNS-P12 A list shows the records of each run, takes a few statements for a page of any length, and finds the same
 *     runs in every store.
 * RUNS-P13 A list counts at most {@link MAX_COUNTED} runs, so that its cost does not grow with the stored runs.
 * RUNS-P14 A record with damaged columns is listed, claimed and read like others, without the damaged fields, which
 *     `unreadable` names. The execution of such a run fails with RUN_UNREADABLE; it can be cancelled and deleted. An event
 *     that cannot be read is replaced by `event_unreadable`; a pending command is left out, a delivery ends as failed.
 * RUNS-P15 `create` makes its claimant the owner of the run, as a claim would, unless another run is due that the claimant
 *     could take, its lease has expired, or the limit of concurrent runs is reached. It may also leave the run waiting
 *     because other processes claim at the same time.
 * RUNS-P16 The steps of a run are retained until it is deleted or `deleteSteps` deletes them. Each step has the sequence
 *     number of its event, so that the steps up to an event are those that a crash right after it leaves.
 * RUNS-P17 `create` copies the log of a fork within the store, in the transaction that creates the run: the events after
 *     the first one and the steps of its parent, up to an event. A copied open review is open in the fork under a new id.
 *     A parent that then has fewer events or steps than the fork was planned with, because it is being deleted, is refused.
 * RUNS-P18 Of the steps of a run, `steps` returns all or none: while they are being deleted, there are none.
 * RUNS-P21 Every store accepts the same values, and returns what it accepted unchanged.
 */
import type { Change } from '../domain/change.ts'
import type { Quota } from '../domain/quota.ts'
import type {
  ListedRun,
  NewRun,
  ReviewRecord,
  RunParent,
  RunRecord,
  TaskRecord,
} from '../domain/run-record.ts'
import type { StoredValues } from '../log/stored-values.ts'
import type { CommandAnswer } from './command-queue.ts'
import type { ClaimedRun, LeaseOwner, ProcessCode } from './run-queue.ts'
import type { TuttiError } from '@tutti/core'
import type { RunStep } from '@tutti/ensemble/internal'
import type { LoggedRunEvent, RunEvent, RunStatus } from '@tutti/protocol'
import type { ReviewKind } from '@tutti/protocol/internal'

/** Greatest total that a list counts. */
export const MAX_COUNTED = 10_000

/** Stores runs with all their data, and receives every write of a run. */
export interface RunStore {
  /**
   * Stores a new run, which then belongs to its claimant or waits for an owner.
   *
   * @throws {TuttiError} RUN_NOT_FOUND when the parent of a fork does not exist; STEPS_NOT_RETAINED when its steps are
   * incomplete; RUN_EXISTS when the id is taken; IDEMPOTENCY_CONFLICT when the key was used for another submission;
   * THREAD_NOT_FOUND, or THREAD_BUSY when the newest run of its thread has not ended; CONCURRENCY_LIMIT when
   * `maxUnfinishedRuns`, or the quota, is reached; SPEND_LIMIT when the runs of the actor have cost as much as the
   * quota allows; `refusal`, if set.
   */
  create(run: NewRun, how: CreateRunOptions): Promise<CreatedRun>
  /** Writes to several runs, at most one write per run. Returns one result per write, in their order. */
  commit(writes: readonly RunWrite[]): Promise<readonly WriteResult[]>
  /** Writes to an unowned run. */
  commitUnowned(write: UnownedWrite): Promise<WriteResult>
  /** Returns a run, or undefined when the id is unknown. */
  get(runId: string): Promise<RunRecord | undefined>
  /** Returns the tasks of a run, in order; empty before it started. */
  tasks(runId: string): Promise<readonly TaskRecord[]>
  /**
   * Returns the steps of a run, in order; empty before it started and after their retention (RUNS-P18).
   *
   * @throws {TuttiError} RUN_TOO_LARGE when they exceed `maxBytes`, before they are read; RUN_UNREADABLE when the
   * stored steps are damaged.
   */
  steps(runId: string, query?: StepsQuery): Promise<readonly RunStep[]>
  /** Returns a page of runs, newest first. */
  list(query: RunQuery): Promise<RunListPage>
  /** Returns a page of runs, the one whose status changed last first; of two at the same time the greater id. */
  listByChange(query: ChangedRunsQuery): Promise<ChangedRunsPage>
  /** Returns reviews, in the order in which they opened. */
  reviews(query: ReviewQuery): Promise<readonly ReviewRecord[]>
  /** Counts all reviews of a query, without its limits. */
  countReviews(query: ReviewQuery): Promise<number>
  /** Deletes up to `limit` ended runs and returns their ids. */
  deleteEnded(which: Retention): Promise<readonly string[]>
  /** Deletes up to `limit` steps of runs that ended before. Returns whether more may be left to delete. */
  deleteSteps(which: StepRetention): Promise<boolean>
  /** Deletes one run if it has ended; `unfinished` when it has not, `unknown` when there is none. */
  delete(runId: string): Promise<'deleted' | 'unfinished' | 'unknown'>
}

/** Selects the steps of a run to read. */
export interface StepsQuery {
  /** Sequence number of the last event whose steps are read. @default that of the newest event */
  readonly upTo?: number
  /** In bytes of JSON. @default Infinity */
  readonly maxBytes?: number
}

/** The first event of a new run, and the limits that its creation observes. */
export interface CreateRunOptions {
  readonly firstEvent: RunEvent
  /** Maximum number of runs that wait or execute, including this one. Runs that wait for a person are not counted. */
  readonly maxUnfinishedRuns: number
  /** Limits for the actor of the run, in addition. */
  readonly quota?: Quota
  /** The process that takes the run at once, if it may (RUNS-P15). A fork always waits. */
  readonly claimant?: Claimant
  /** The log that the run copies from another one. */
  readonly fork?: ForkedLog
  /** The error with which the run is refused, unless it repeats an earlier submission. */
  readonly refusal?: TuttiError
}

/** The log of a fork after its first event: copied from its parent, then its own. */
export interface ForkedLog {
  readonly parent: RunParent
  /** The changes that the copied events make to the records of the run. */
  readonly changes: readonly Change[]
  /** Number of steps that the parent had up to that event when the fork was planned. */
  readonly copiedSteps: number
  /** New ids of the copied open reviews, by their ids in the parent. */
  readonly reviewIds: ReadonlyMap<string, string>
  /** Events and steps that follow the copied ones. */
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  /** For each of these steps, the index of its event. @default the last event */
  readonly stepEvents?: readonly number[]
}

/** A process that takes a run at its creation. */
export interface Claimant extends LeaseOwner {
  /** As in `ClaimRequest`. */
  readonly maxConcurrentRuns: number
  /** Whether it can take another run after this one. */
  readonly hasFreeSlot: boolean
  /** Code that the run gets if it is claimed (RUNS-Z1). */
  readonly code?: ProcessCode
}

/** The result of a submission. */
export type CreatedRun =
  | {
      readonly kind: 'created'
      readonly event: LoggedRunEvent
      /** Present if the claimant has taken the run. */
      readonly claim?: ClaimedRun
    }
  /** It was accepted before, under its idempotency key. */
  | { readonly kind: 'repeated'; readonly run: RunRecord }
  /** Its thread has another newest run than it follows, or that run had not ended when it was read (RUNS-H2). */
  | { readonly kind: 'outdated' }

/** The next events, steps and answers of a run that the writer owns. */
export interface RunWrite {
  readonly runId: string
  /** The fencing token of the writer's claim. */
  readonly token: string
  /** Number of the write under this claim, from 1. */
  readonly writeNo: number
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  /**
   * Index in `events` of the event of each step; of a step without an event, the index of the next event. @default the
   * last event
   */
  readonly stepEvents?: readonly number[]
  /** Answers to commands; stored with the events that show their effect. */
  readonly answers?: readonly CommandAnswer[]
  /** The values that earlier writes under this claim stored; the write refers to them. */
  readonly stored?: StoredValues
}

/** A write to an unowned run. */
export interface UnownedWrite {
  readonly runId: string
  /** Fencing token and newest sequence number of the run as the writer read it. The write replaces the token. */
  readonly token: string
  readonly lastSeq: number
  /** At least one. */
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  /** Whether the run then waits for an owner, or stays as it is. */
  readonly next: 'ready' | 'stay'
}

/** The outcome of a write: the stored events, or the reason why it was rejected. */
export type WriteResult =
  | { readonly kind: 'written'; readonly events: readonly LoggedRunEvent[] }
  | { readonly kind: 'fenced' }
  /** This write can never be stored. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The store cannot be reached; whether the write was stored is unknown. */
  | { readonly kind: 'unavailable'; readonly error: unknown }

/** Selects the runs that match all fields. */
export interface RunQuery {
  readonly statuses?: readonly RunStatus[]
  readonly tag?: { readonly key: string; readonly value?: string }
  readonly ensemble?: string
  readonly threadId?: string
  /** The `cacheKey` that the run was submitted with. */
  readonly cacheKey?: string
  /** The start of the id, or a part of a tag or input value, in any case. */
  readonly text?: string
  readonly limit: number
  /** Number of runs to skip. @default 0 */
  readonly offset?: number
  /** Only runs that are older than the run at this `place`. */
  readonly before?: number | undefined
}

/** A page of runs, newest first. */
export interface RunListPage {
  readonly runs: readonly ListedRun[]
  /** Number of runs that match on all pages, at most {@link MAX_COUNTED}. */
  readonly total: number
  /** Whether more than `total` runs match. */
  readonly isCapped: boolean
}

/** Selects the runs that match all fields, by the time of their last status change. */
export interface ChangedRunsQuery {
  readonly ensembles: readonly string[]
  /** The runs with this value of this tag, and the run whose id is the value, unless it has the tag. */
  readonly group?: { readonly tag: string; readonly value: string }
  readonly statuses?: readonly RunStatus[]
  /**
   * Whether the run waits for a review that its caller can decide: it is WAITING_REVIEW, or RUNNING or WAITING_FOR_BUILD with
   * such a review.
   */
  readonly awaitsReview?: boolean
  /** The earliest change, in milliseconds since 1970. */
  readonly since?: number
  /** The last run of the page before. */
  readonly after?: ChangedRun | undefined
  readonly limit: number
}

/** A run and the time at which its status changed, in milliseconds since 1970. */
export interface ChangedRun {
  readonly runId: string
  readonly changedAt: number
}

/** A page of runs by the time of their last change. */
export interface ChangedRunsPage {
  readonly runs: readonly ChangedRun[]
  /** Number of runs that match on all pages, at most {@link MAX_COUNTED}. */
  readonly total: number
}

/** Selects reviews. */
export interface ReviewQuery {
  readonly runId?: string
  readonly reviewId?: string
  /** Only those that wait for a decision. @default false */
  readonly open?: boolean
  /** Only reviews of these kinds. @default all kinds */
  readonly kinds?: readonly ReviewKind[]
  /** Maximum number of open reviews of all runs. @default no limit */
  readonly limit?: number
  /** Stops reading when the requests exceed this size, in bytes. @default no limit */
  readonly maxBytes?: number
}

/** Selects ended runs to delete. */
export interface Retention {
  /** Number of runs to retain: the last ones that ended. */
  readonly keep: number
  /** Age in milliseconds; runs that ended longer ago are deleted as well. */
  readonly maxAgeMs?: number
  /** Maximum number of runs to delete. */
  readonly limit: number
}

/** Selects steps of ended runs to delete. */
export interface StepRetention {
  /** Age of their runs in milliseconds: steps of runs that ended longer ago are deleted. */
  readonly maxAgeMs: number
  /** Maximum number of steps to delete. */
  readonly limit: number
}
