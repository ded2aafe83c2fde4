/** The parts that the ports of a Postgres store share. */
import type { Notifications } from '../../../ports/notifications.ts'
import type { Database } from '../database/database.ts'
import type { OwnedRuns } from '../../shared/log/owned-runs.ts'
import type { PostgresNotifications } from '../notifications/notifications.ts'
import type { ProcessWaker } from '../notifications/process-waker.ts'
import type { LastUnfinishedCount } from './unfinished-count.ts'

/** Shared parts of a Postgres store. */
export interface PostgresParts {
  /** Leases, claims and commits. */
  readonly database: Database
  /** Everything else that a request, or a run, asks for. */
  readonly requests: Database
  /** Lists, searches and totals; perhaps of a replica. */
  readonly searches: Database
  readonly notifications: PostgresNotifications
  /** Sends notifications to other processes, over the engine if there is one. */
  readonly carrier: Notifications
  readonly waker: ProcessWaker
  /** The runs that this process writes. */
  readonly owned: OwnedRuns
  /** The last count of the runs that wait or execute. */
  readonly unfinished: LastUnfinishedCount
  /** The channel on which every process of the schema listens. */
  readonly sharedChannel: string
}
