/** Postgres stores that a real NATS cluster serves. */
import { natsEngine, type NatsEngineOptions } from '@tutti/nats'
import { postgresRunStorage } from '@tutti/runs/postgres'

import { until } from '../../../tooling/test-kit/wait.ts'

import type { Logger } from '@tutti/core'
import type { RunStorage } from '@tutti/runs/adapter'

/** Options of {@link openOverNats}. */
export interface OpenOptions extends NatsEngineOptions {
  readonly connectionString: string
  readonly schema?: string
  readonly logger?: Logger
}

/** Opens a store. Resolves when NATS dispatches its runs, unless `waits` is false. */
export async function openOverNats(
  { connectionString, schema, logger, ...options }: OpenOptions,
  { waits = true } = {},
): Promise<RunStorage> {
  const storage = await postgresRunStorage({
    connectionString,
    ...(schema === undefined ? {} : { schema }),
    ...(logger === undefined ? {} : { logger }),
    maxConnections: 4,
    engine: await natsEngine(options),
  })
  if (waits) await until('NATS dispatches', () => storage.dispatcher.engine.isConnected)
  return storage
}
