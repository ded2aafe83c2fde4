/** Stored records of threads and of their runs. Instants are milliseconds since 1970. */
import type { RunRecord } from './run-record.ts'

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
      'runId' | 'ensemble' | 'status' | 'createdAt' | 'completedAt' | 'error' | 'lastSeq'
    >,
    Omit<NewThreadRun, 'threadId'> {
  /** Output of the final task. */
  readonly output?: string
}

/** The place of a new run in its thread. */
export interface NewThreadRun {
  readonly threadId: string
  /** Number of the run in its thread, from 1. Numbers of deleted runs are missing. */
  readonly number: number
  /** The run as a message of its user. */
  readonly userMessage: string
  /** `taskIndex` of the task whose output is that of the run. */
  readonly finalTask: number
}
