/** Opens the store of the runs: the embedded one, or Postgres if its URL is set, over NATS if that is set too. */
import { sqliteRunStorage } from '@tutti/runs'
import type { ConnectEngine, RunStorage } from '@tutti/runs/adapter'

import type { Environment, NatsEnvironment } from '../environment/env.ts'
import type { Logger } from '@tutti/core'

/**
 * Opens the store. The code for Postgres and for NATS is loaded only when it is used.
 *
 * @throws {TuttiError} STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE; NOT_CONFIGURED when the NATS client is not
 * installed.
 */
export async function openStorage(
  { dataDir, synchronous, databaseUrl, databaseListenUrl, databaseReadUrl, nats }: Environment,
  logger: Logger,
): Promise<RunStorage> {
  if (databaseUrl === undefined) return sqliteRunStorage(dataDir, { synchronous, logger })
  const { postgresRunStorage } = await import('@tutti/runs/postgres')
  const engine = nats === undefined ? undefined : await openEngine(nats)
  const state = { isOpen: false }
  const storage = await postgresRunStorage({
    connectionString: databaseUrl,
    ...(databaseListenUrl === undefined ? {} : { listenConnectionString: databaseListenUrl }),
    ...(databaseReadUrl === undefined ? {} : { readConnectionString: databaseReadUrl }),
    ...(engine === undefined ? {} : { engine }),
    logger: logOnceOpen(logger, state),
  })
  state.isOpen = true
  return storage
}

/** Loads the engine over NATS, whose client is not part of the server. */
async function openEngine(nats: NatsEnvironment): Promise<ConnectEngine> {
  const { natsEngine } = await import('@tutti/nats')
  return natsEngine(nats)
}

/** Returns a logger that is silent until the store is open: a failure to open it is thrown, and reported only once. */
function logOnceOpen(logger: Logger, state: { readonly isOpen: boolean }): Logger {
  const log =
    (level: keyof Logger): Logger[typeof level] =>
    (message, fields) => {
      if (state.isOpen) logger[level](message, fields)
    }
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}
