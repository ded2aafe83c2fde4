/** What the ports of a Postgres store share. */
import type { Database } from './database.ts'
import type { PostgresNotifications } from './notifications.ts'

/** What the ports of a Postgres store share. */
export interface PostgresParts {
  readonly database: Database
  readonly notifications: PostgresNotifications
  /** The name of the schema, as it was given. */
  readonly schemaName: string
}
