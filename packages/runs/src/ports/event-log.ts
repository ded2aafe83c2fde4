/** The port for reading stored events. */
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

/** The events of all runs. */
export interface StoredEventLog {
  /**
   * Returns events of one run, in order. Reading stops after the event that reaches `maxBytes`, so a page shorter
   * than `limit` is not the end of the log.
   */
  read(query: EventQuery): Promise<EventPage>
  /**
   * From now on notifies this process of the events that other processes write to these runs, and no longer of others.
   * Returns the newest event of each run that exists.
   */
  follow(query: FollowQuery): Promise<readonly RunHead[]>
}

/** The runs that a process follows. */
export interface FollowQuery {
  readonly runIds: readonly string[]
  /** Whether it follows every other run as well. Only heads of runs that have an owner are returned in addition. */
  readonly all: boolean
}

/** Default size of a page of events in the store, in bytes. */
export const EVENT_PAGE_BYTES = 1_000_000

/** Selects events of one run. */
export interface EventQuery {
  readonly runId: string
  /** Events with `seq >= from`. */
  readonly from: number
  /** Maximum number of events to return; at least 1. */
  readonly limit: number
  /** Size after which no further event is read, in bytes. @default 1000000 */
  readonly maxBytes?: number
  /** Only events of these types. @default all */
  readonly types?: readonly RunEvent['type'][]
}

/** Events of one run, and its newest event at the time of the read. */
export interface EventPage {
  readonly events: readonly LoggedRunEvent[]
  /** Newest event of the run, of any type; undefined if the run does not exist. From the same snapshot as `events`. */
  readonly lastSeq: number | undefined
}

/** The newest event of a run. */
export interface RunHead {
  readonly runId: string
  readonly lastSeq: number
}
