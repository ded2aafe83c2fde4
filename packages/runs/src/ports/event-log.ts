/** Reads the events that were written. */
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

/** The events of all runs. */
export interface EventLog {
  /** Events of one run, in order; empty when there are none. */
  read(query: EventQuery): Promise<readonly LoggedRunEvent[]>
  /** How far the runs are that have not ended, and those of `runIds`. */
  heads(runIds: readonly string[]): Promise<readonly RunHead[]>
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

/** The newest event of a run. */
export interface RunHead {
  readonly runId: string
  readonly lastSeq: number
}
