/** The parts that the ports of a Postgres store share. */
import type { Database } from './database.ts'
import type { PostgresNotifications } from './notifications.ts'

/** Shared parts of a Postgres store. */
export interface PostgresParts {
  readonly database: Database
  readonly notifications: PostgresNotifications
  /** The unquoted name of the schema. */
  readonly schemaName: string
}
