/** Reads the state of a cluster, for people. */
import { loadClient } from './load-client.ts'
import { resolveNatsEngineOptions, type NatsEngineOptions } from './options.ts'

import type { NatsClusterState } from './query-cluster.ts'

/**
 * Reads the state without writing.
 *
 * @throws {TuttiError} NOT_CONFIGURED when the NATS client is not installed.
 * @throws {Error} when no server answers, or none has JetStream.
 */
export async function readClusterState(options: NatsEngineOptions): Promise<NatsClusterState> {
  const settings = resolveNatsEngineOptions(options)
  const { queryCluster } = await loadClient(() => import('./query-cluster.ts'))
  return queryCluster(settings)
}
