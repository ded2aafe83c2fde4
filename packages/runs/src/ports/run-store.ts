/**
 * The ports between durable runs and where they are kept. `sqlite/` holds the embedded adapter; each
 * adapter passes the cases of `testing/run-storage-cases.ts`.
 *
 * P1 `create` writes the run and its first event in one piece.
 * P2 `claim` raises the epoch; a write with an older epoch changes nothing and is answered `fenced`.
 * P3 Sequence numbers are given by the store: gapless from 0 in the order of writing.
 * P4 The events of a write, its steps and the state that follows are kept in one piece.
 * P5 A write that cannot be kept leaves the others of its batch untouched.
 * P6 A claim gives all steps of its run, in the order of writing; a run that has ended has none.
 */
import type { NewRun, RunRecord, TaskRecord } from '../run-record.ts'
import type { RunStep } from '@tutti/ensemble'
import type { LoggedRunEvent, RunEvent, RunStatus } from '@tutti/protocol'

/** Keeps runs and tasks, and takes every write of a run. */
export interface RunStore {
  /**
   * Keeps a new run.
   *
   * @throws {TuttiError} RUN_EXISTS when the id is taken.
   */
  create(run: NewRun, firstEvent: RunEvent): Promise<LoggedRunEvent>
  /** Makes the caller the owner of a run that is not finished; undefined for any other. */
  claim(runId: string): Promise<ClaimedRun | undefined>
  /** Writes the events and steps of several runs at once; one answer a write, in their order. */
  commit(writes: readonly RunWrite[]): Promise<readonly WriteResult[]>
  /** A run, or undefined when there is none of that id. */
  get(runId: string): Promise<RunRecord | undefined>
  /** The tasks of a run, in order; empty before it started. */
  tasks(runId: string): Promise<readonly TaskRecord[]>
  /** The steps of a run, in order; empty before it began and after it has ended. */
  steps(runId: string): Promise<readonly RunStep[]>
  /** Runs, newest first. */
  list(query: RunQuery): Promise<RunPage>
  /** Ids of the runs that are not finished, oldest first. */
  unfinished(): Promise<readonly string[]>
}

/** Reads what was written. */
export interface EventLog {
  /** Events of one run, in order; empty when there are none. */
  read(query: EventQuery): Promise<readonly LoggedRunEvent[]>
}

/** Which events to read. */
export interface EventQuery {
  readonly runId: string
  /** Events with `seq >= from`. */
  readonly from: number
  /** How many, at most. */
  readonly limit: number
  /** Only events of these types. @default all */
  readonly types?: readonly RunEvent['type'][]
}

/** A place where runs are kept. */
export interface RunStorage extends AsyncDisposable {
  readonly runs: RunStore
  readonly events: EventLog
}

/** A run that now belongs to the caller. */
export interface ClaimedRun {
  readonly run: RunRecord
  /** What earlier owners need not have repeated, in order; empty when the run has not begun. */
  readonly steps: readonly RunStep[]
}

/** The next events and steps of one run. */
export interface RunWrite {
  readonly runId: string
  /** The epoch of the writer's claim. */
  readonly epoch: number
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
}

/** What became of a write. */
export type WriteResult =
  | { readonly kind: 'written'; readonly events: readonly LoggedRunEvent[] }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Which runs to list. */
export interface RunQuery {
  readonly statuses?: readonly RunStatus[]
  readonly tag?: { readonly key: string; readonly value?: string }
  readonly limit: number
  readonly offset: number
}

/** A page of runs. */
export interface RunPage {
  readonly runs: readonly RunRecord[]
  /** How many runs match in all. */
  readonly total: number
}
