/**
 * What is kept of runs. `sqlite/` and `postgres/` hold the adapters; each passes the cases of `testing/`.
 *
 * RUNS-P1 `create` writes the run and its first event in one piece; the same submission twice is one run.
 * RUNS-P2 A write of a holder whose claim is over changes nothing and is answered `fenced`.
 * RUNS-P3 Sequence numbers are given by the store: gapless from 0 in the order of writing.
 * RUNS-P4 The events of a write, its steps, its answers and the state that follows are kept in one piece.
 * RUNS-P5 A write that cannot be kept leaves the others of its batch untouched.
 * RUNS-P6 A run that has ended has no steps, no pending commands, and no open review.
 * RUNS-P7 A write that is sent again, as its first answer was lost, is kept once.
 * RUNS-P8 A write at rest is kept only while nobody has the run and nothing was written since.
 * RUNS-P9 What is deleted is deleted whole, the oldest first, and never a run that has not ended.
 * RUNS-P10 What webhooks are to be told is kept in one piece with the events that they are told of.
 * RUNS-P11 The quota of an actor counts what is kept, also by other processes; two submits never share a place.
 * RUNS-P12 A list shows of each run what its records say, in one statement however long the page is, and every
 *     store finds the same runs.
 */
import type { ListedRun, NewRun, ReviewRecord, RunRecord, TaskRecord } from '../run-record.ts'
import type { CommandAnswer } from './command-queue.ts'
import type { RunStep } from '@tutti/ensemble'
import type { LoggedRunEvent, RunEvent, RunStatus } from '@tutti/protocol'

/** Keeps runs with all that belongs to them, and takes every write of a run. */
export interface RunStore {
  /**
   * Keeps a new run, which waits for an owner from then on.
   *
   * @throws {TuttiError} RUN_EXISTS when the id is taken, IDEMPOTENCY_CONFLICT when the key was used for
   * something else, CONCURRENCY_LIMIT when `maxUnfinishedRuns` have not ended, or those that the quota
   * allows, SPEND_LIMIT when the runs of the actor have cost what the quota allows.
   */
  create(run: NewRun, how: CreateRunOptions): Promise<CreatedRun>
  /** Writes what happened in several runs; one answer a write, in their order. At most one a run. */
  commit(writes: readonly RunWrite[]): Promise<readonly WriteResult[]>
  /** Writes to a run that nobody has. */
  commitUnowned(write: UnownedWrite): Promise<WriteResult>
  /** A run, or undefined when there is none of that id. */
  get(runId: string): Promise<RunRecord | undefined>
  /** The tasks of a run, in order; empty before it started. */
  tasks(runId: string): Promise<readonly TaskRecord[]>
  /**
   * The steps of a run, in order; empty before it began and after it has ended.
   *
   * @throws {TuttiError} RUN_TOO_LARGE when they have more than `maxBytes`, before they are read;
   * RUN_UNREADABLE when they are not what a store writes.
   */
  steps(runId: string, limit?: StepsLimit): Promise<readonly RunStep[]>
  /** Runs, newest first. */
  list(query: RunQuery): Promise<RunListPage>
  /** Returns a page of runs, the one whose status changed last first; of two at the same time the greater id. */
  listByChange(query: ChangedRunsQuery): Promise<ChangedRunsPage>
  /** Reviews, in the order in which they opened. */
  reviews(query: ReviewQuery): Promise<readonly ReviewRecord[]>
  /** Counts all reviews of a query, without its `maxBytes`. */
  countReviews(query: ReviewQuery): Promise<number>
  /** Deletes runs that have ended, at most `limit`; gives the ids of those. */
  deleteEnded(which: Retention): Promise<readonly string[]>
  /** Deletes one run if it has ended; `unfinished` when it has not, `unknown` when there is none. */
  delete(runId: string): Promise<'deleted' | 'unfinished' | 'unknown'>
}

/** Limit for reading the steps of a run. */
export interface StepsLimit {
  /** In bytes of JSON. @default Infinity */
  readonly maxBytes?: number
}

/** How a run is taken in. */
export interface CreateRunOptions {
  readonly firstEvent: RunEvent
  /** Runs that may wait or execute, this one included; those that wait for a person are not counted. */
  readonly maxUnfinishedRuns: number
  /** What the actor of the run may have, beside that. */
  readonly quota?: Quota
}

/** What the runs of one actor may be and cost. */
export interface Quota {
  readonly actor: string
  /** Runs that have not ended, this one included; those that wait for a person are counted. */
  readonly maxUnfinishedRuns?: number
  /** What runs that were submitted since an instant may have cost, in US dollars; no price counts as 0. */
  readonly spend?: { readonly maxCostUsd: number; readonly since: number }
}

/** What became of a submission. */
export type CreatedRun =
  | { readonly kind: 'created'; readonly event: LoggedRunEvent }
  /** It was taken in before, under its idempotency key. */
  | { readonly kind: 'repeated'; readonly run: RunRecord }

/** The next events, steps and answers of a run that the writer owns. */
export interface RunWrite {
  readonly runId: string
  /** The epoch of the writer's claim. */
  readonly epoch: number
  /** Which write under this claim it is, from 1. */
  readonly writeNo: number
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  /** Answers to commands; stored with the events that show their effect. */
  readonly answers?: readonly CommandAnswer[]
}

/** A write to a run that nobody has. */
export interface UnownedWrite {
  readonly runId: string
  /** Epoch and newest sequence number of the run as the writer read it. */
  readonly epoch: number
  readonly lastSeq: number
  /** At least one. */
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
  /** Whether the run waits for an owner from then on, or goes on waiting for what it waits for. */
  readonly next: 'ready' | 'stay'
}

/** What became of a write. */
export type WriteResult =
  | { readonly kind: 'written'; readonly events: readonly LoggedRunEvent[] }
  | { readonly kind: 'fenced' }
  /** This write cannot be kept, now or later. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The store cannot be reached; whether the write was kept is not known. */
  | { readonly kind: 'unavailable'; readonly error: unknown }

/** Which runs to list: those that all of it is true of. */
export interface RunQuery {
  readonly statuses?: readonly RunStatus[]
  readonly tag?: { readonly key: string; readonly value?: string }
  readonly ensemble?: string
  /** The key that the run was submitted with. */
  readonly cacheKey?: string
  /** What the id begins with, or a value of a tag or an input contains, in any case. */
  readonly text?: string
  readonly limit: number
  readonly offset: number
}

/** A page of runs. */
export interface RunListPage {
  readonly runs: readonly ListedRun[]
  /** How many runs match in all. */
  readonly total: number
}

/** Which runs to list by the time at which their status changed: those that all of it is true of. */
export interface ChangedRunsQuery {
  readonly ensembles: readonly string[]
  /** The runs with this value of this tag, and the run whose id is the value, unless it has the tag. */
  readonly group?: { readonly tag: string; readonly value: string }
  readonly statuses?: readonly RunStatus[]
  /** Whether the run waits for a review: it is WAITING_REVIEW, or RUNNING with an open review. */
  readonly awaitsReview?: boolean
  /** The earliest change, in milliseconds since 1970. */
  readonly since?: number
  /** The last run of the page before. */
  readonly after?: ChangedRun | undefined
  readonly limit: number
}

/** A run and when its status changed, in milliseconds since 1970. */
export interface ChangedRun {
  readonly runId: string
  readonly changedAt: number
}

/** A page of runs by change. */
export interface ChangedRunsPage {
  readonly runs: readonly ChangedRun[]
  /** Number of runs that match on all pages. */
  readonly total: number
}

/** Which reviews to read. */
export interface ReviewQuery {
  readonly runId?: string
  readonly reviewId?: string
  /** Only those that wait for a decision. @default false */
  readonly open?: boolean
  /** Size of the requests after which no further review is read, in bytes. @default no limit */
  readonly maxBytes?: number
}

/** Which ended runs to delete. */
export interface Retention {
  /** How many to keep, the last ones to end. */
  readonly keep: number
  /** Those that ended longer ago are deleted as well, in milliseconds. */
  readonly maxAgeMs?: number
  /** How many to delete, at most. */
  readonly limit: number
}
