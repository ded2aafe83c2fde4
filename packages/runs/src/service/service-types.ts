/** Types of the results of a run service. */
import type { EventBatches } from '../feed/follow-events.ts'
import type { RunRecord } from '../domain/run-record.ts'

/** An accepted run with its events. */
export interface RunWithEvents {
  readonly run: RunRecord
  /** Events from the first one on; undefined for the run of an earlier submission. */
  readonly events: EventBatches | undefined
}

/** Whether the service accepts runs, or the reason why not. */
export type ServiceState = 'READY' | 'DRAINING' | 'STORE_UNAVAILABLE'
