/** Opens the store of the runs: the embedded one, or Postgres when its address is set. */
import { sqliteRunStorage, type RunStorage } from '@tutti/runs'

import type { Environment } from './env.ts'
import type { Logger } from '@tutti/core'

/**
 * Opens the store. What Postgres needs is loaded only when it is used.
 *
 * @throws {TuttiError} STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE.
 */
export async function openStorage(
  { dataDir, databaseUrl, databaseListenUrl }: Environment,
  logger: Logger,
): Promise<RunStorage> {
  if (databaseUrl === undefined) return sqliteRunStorage(dataDir)
  const { postgresRunStorage } = await import('@tutti/runs/postgres')
  return postgresRunStorage({
    connectionString: databaseUrl,
    ...(databaseListenUrl === undefined ? {} : { listenConnectionString: databaseListenUrl }),
    logger,
  })
}
