/**
 * Measures NATS as the dispatcher and the notifications of a Postgres store: three servers that store each offer, on the
 * machine of the database and of the processes. It measures nothing where there is no `nats-server`.
 */
import { hasNatsServer } from '../nats/nats-server.ts'
import { startNatsCluster } from '../nats/nats-cluster.ts'
import { measureNatsDispatch } from './lib/nats-dispatch.ts'
import { measureNatsIdle } from './lib/nats-idle.ts'
import { measureNatsNotifications } from './lib/nats-notifications.ts'
import { measureNatsTakeover } from './lib/nats-takeover.ts'
import { openLocations } from './lib/runs-locations.ts'

if (hasNatsServer()) {
  await using locations = await openLocations()
  await using cluster = await startNatsCluster(3)
  const where = { locations, cluster }
  await measureNatsDispatch(where)
  await measureNatsTakeover(where)
  await measureNatsNotifications(where)
  await measureNatsIdle(where)
}
