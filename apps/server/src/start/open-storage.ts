/** Opens the store of the runs: the embedded one, or Postgres when its address is set. */
import { sqliteRunStorage, type RunStorage } from '@tutti/runs'

import type { Environment } from '../environment/env.ts'
import type { Logger } from '@tutti/core'

/**
 * Opens the store. What Postgres needs is loaded only when it is used.
 *
 * @throws {TuttiError} STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE.
 */
export async function openStorage(
  { dataDir, synchronous, databaseUrl, databaseListenUrl }: Environment,
  logger: Logger,
): Promise<RunStorage> {
  if (databaseUrl === undefined) return sqliteRunStorage(dataDir, { synchronous })
  const { postgresRunStorage } = await import('@tutti/runs/postgres')
  const told = { isOpen: false }
  const storage = await postgresRunStorage({
    connectionString: databaseUrl,
    ...(databaseListenUrl === undefined ? {} : { listenConnectionString: databaseListenUrl }),
    logger: onceOpen(logger, told),
  })
  told.isOpen = true
  return storage
}

/** A logger for a store that is being opened: what goes wrong until then is thrown, and told once. */
function onceOpen(logger: Logger, told: { readonly isOpen: boolean }): Logger {
  const log =
    (level: keyof Logger): Logger[typeof level] =>
    (message, fields) => {
      if (told.isOpen) logger[level](message, fields)
    }
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}
