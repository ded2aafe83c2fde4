/** Queries the state of a cluster with the loaded client. */
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'

import { createNames } from './subjects.ts'

import type { ResolvedNatsEngineOptions } from './options.ts'

/** Time limit of each request, in milliseconds. */
const LIMIT_MS = 3_000

/** Version and load of the servers. */
export interface NatsClusterState {
  /** Version of the server that answered. */
  readonly version: string
  /** Number of offers that wait or whose runs execute; undefined before the first use. */
  readonly offers: number | undefined
}

/** Queries the state without writing. @throws {Error} when no server answers, or none has JetStream. */
export async function queryCluster({
  servers,
  prefix,
}: ResolvedNatsEngineOptions): Promise<NatsClusterState> {
  const connection = await connect({ servers: [...servers], timeout: LIMIT_MS, reconnect: false })
  try {
    const manager = await jetstreamManager(connection, { timeout: LIMIT_MS })
    const { stream } = createNames(prefix)
    const used = (await manager.streams.names().next()).includes(stream)
    const offers = used ? (await manager.streams.info(stream)).state.messages : undefined
    return { version: connection.info?.version ?? 'unknown', offers }
  } finally {
    await connection.close()
  }
}
