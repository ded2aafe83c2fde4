/** Stored records of threads and of their runs. Instants are milliseconds since 1970. */
import type { NewThreadRun, RunRecord } from './run-record.ts'

/** A thread: a conversation that consists of runs. */
export interface ThreadRecord extends NewThread {
  /** Position in the list of all threads; greater for one with a newer submission. */
  readonly place: number
  readonly createdAt: number
  /** Time of the newest submission; of the creation when there is none. */
  readonly changedAt: number
  /** Number of its stored runs. */
  readonly runCount: number
  readonly newestRun?: Pick<RunRecord, 'runId' | 'status'>
  /** The columns that are damaged in the store, with the reasons; their fields are empty. */
  readonly unreadable?: string
}

/** A thread to create. */
export interface NewThread extends Pick<RunRecord, 'tags' | 'actor'> {
  readonly threadId: string
  readonly title?: string
}

/** A run of a thread, with its texts. `error` is cut. */
export interface ThreadRunRecord
  extends
    Pick<
      RunRecord,
      | 'runId'
      | 'ensemble'
      | 'status'
      | 'createdAt'
      | 'completedAt'
      | 'error'
      | 'lastSeq'
      | 'outputTask'
    >,
    Omit<NewThreadRun, 'threadId'> {
  /** Output of the output task. */
  readonly output?: string
  /** The columns that are damaged in the store, with the reasons; their fields are empty. */
  readonly unreadable?: string
}
