/** Opens Postgres stores with NATS, for benchmarks. */
import { until } from '../../test-kit/wait.ts'
import { builtPackage } from './built.ts'
import { openPostgresStorage } from './runs-locations.ts'

import type { RunStorage } from '../../../packages/runs/src/adapter.ts'
import type { NatsCluster } from '../../nats/nats-cluster.ts'
import type { StoreLocations, PostgresLocation } from './runs-locations.ts'

type NatsEntryPoint = typeof import('../../../packages/nats/src/index.ts')

/** The databases and the cluster of the benchmarks. */
export interface NatsLocations {
  readonly locations: StoreLocations
  readonly cluster: NatsCluster
}

/** Number of servers that store an offer. */
export const REPLICAS = 3

/** Opens a store whose runs NATS dispatches. `storePollMs` is the interval at which it also asks the store. */
export async function openNatsStorage(
  location: PostgresLocation,
  cluster: NatsCluster,
  { storePollMs }: { readonly storePollMs?: number } = {},
): Promise<RunStorage> {
  const { natsEngine } = await builtPackage<NatsEntryPoint>('nats')
  const storage = await openPostgresStorage({
    ...location,
    maxConnections: 4,
    engine: await natsEngine({
      servers: cluster.url,
      prefix: location.schema,
      replicas: REPLICAS,
      ...(storePollMs === undefined ? {} : { storePollMs }),
    }),
  })
  await until('NATS dispatches', () => storage.dispatcher.engine.isConnected)
  return storage
}
