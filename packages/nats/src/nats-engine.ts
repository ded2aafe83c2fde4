/** NATS JetStream as the engine of a Postgres store. */
import { loadClient } from './load-client.ts'
import { resolveNatsEngineOptions, type NatsEngineOptions } from './options.ts'

import type { ConnectEngine } from '@tutti/runs/adapter'

/**
 * Returns the engine for option `engine` of `postgresRunStorage`. It connects in the background: while NATS cannot be
 * reached, the store dispatches and notifies by itself.
 *
 * @throws {RangeError} naming every option that is out of range.
 * @throws {TuttiError} NOT_CONFIGURED when the NATS client is not installed, with the command that installs it.
 */
export async function natsEngine(options: NatsEngineOptions): Promise<ConnectEngine> {
  const settings = resolveNatsEngineOptions(options)
  const { createEngine } = await loadClient(() => import('./create-engine.ts'))
  return createEngine(settings)
}
