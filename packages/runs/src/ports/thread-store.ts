/**
 * The store of threads.
 *
 * RUNS-H1 The runs of a thread are numbered in the order of their submission. Only the newest one may be unended: of
 *    concurrent submissions to a thread, exactly one is accepted.
 * RUNS-H2 A run is created in its thread only if its history is whole: no run was added since it was read, and the newest
 *    run had ended by then.
 * RUNS-H3 A thread is deleted only when it has no runs. A deleted run leaves its thread.
 * RUNS-H4 Beyond a retention, threads without runs are deleted, those with the oldest submission first.
 * RUNS-H5 A list shows the thread with the newest submission first, and finds the same threads in every store.
 */
import type { NewThread, ThreadRecord, ThreadRunRecord } from '../domain/thread-record.ts'
import type { Retention, RunQuery } from './run-store.ts'

/** Stores threads. Their runs are created by the store of runs. */
export interface ThreadStore {
  /** Creates a thread, or returns the existing one with this id. */
  create(thread: NewThread): Promise<CreatedThread>
  /** Returns a thread, or undefined when the id is unknown. */
  get(threadId: string): Promise<ThreadRecord | undefined>
  /** Replaces the tags of a thread. Returns it, or undefined when the id is unknown. */
  setTags(threadId: string, tags: ThreadRecord['tags']): Promise<ThreadRecord | undefined>
  /** Returns a page of threads. */
  list(query: ThreadQuery): Promise<readonly ThreadRecord[]>
  /** Returns a page of the runs of a thread; empty when the id is unknown. */
  runs(query: ThreadRunQuery): Promise<ThreadRunPage>
  /** Deletes a thread without runs. */
  delete(threadId: string): Promise<DeletedThread>
  /** Deletes up to `limit` threads without runs and returns their ids. */
  deleteEmpty(which: Retention): Promise<readonly string[]>
}

/** The result of the creation of a thread. */
export interface CreatedThread {
  readonly isNew: boolean
  readonly thread: ThreadRecord
}

/** The result of the deletion of a thread. */
export type DeletedThread =
  | { readonly kind: 'deleted' | 'unknown' }
  /** It was not deleted. `runIds` are up to {@link SHOWN_RUNS} of its runs, the oldest first. */
  | { readonly kind: 'has_runs'; readonly runIds: readonly string[] }

/** Number of runs that the refused deletion of a thread names. */
export const SHOWN_RUNS = 100

/** Selects the threads that match all fields. */
export interface ThreadQuery extends Pick<RunQuery, 'tag' | 'limit'> {
  /** Only threads that are before this `place`. */
  readonly before?: number | undefined
}

/** Selects runs of a thread. */
export interface ThreadRunQuery {
  readonly threadId: string
  readonly limit: number
  /** Only runs with a smaller number. */
  readonly before?: number | undefined
  /** Only runs with a greater number, the oldest first. @default the newest first */
  readonly after?: number | undefined
  /** Size of the texts after which no further run is read, in bytes. */
  readonly maxBytes: number
}

/** Runs of one thread, in the order of the query. */
export interface ThreadRunPage {
  readonly runs: readonly ThreadRunRecord[]
  /** Whether the thread has further runs in this order. */
  readonly hasMore: boolean
}
