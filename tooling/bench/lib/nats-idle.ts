/**
 * Measures the load of idle workers on Postgres, while NATS dispatches: their round trips, because the transactions that
 * the server counts include those of autovacuum.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { builtPackage } from './built.ts'
import { sized } from './form.ts'
import { openNatsStorage, type NatsLocations } from './nats-stores.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { roundTrips } from './runs-round-trips.ts'
import { teamNamed } from './runs-teams.ts'

type RunsEntryPoint = typeof import('../../../packages/runs/src/index.ts')

const WORKERS = 10
const FOR_MS = sized(60_000, 500, 20_000)

/** Longer than the first polls. */
const SETTLE_MS = sized(20_000, 100)

/** Prints the round trips of an idle worker in ten seconds. */
export async function measureNatsIdle({ locations, cluster }: NatsLocations): Promise<void> {
  const { createRunService } = await builtPackage<RunsEntryPoint>('runs')
  const location = locations.postgres()
  const team = await teamNamed('order')
  const services = []
  for (let n = 0; n < WORKERS; n += 1) {
    const service = createRunService(await openNatsStorage(location, cluster), [team])
    await service.start()
    services.push(service)
  }
  await sleep(SETTLE_MS)
  const before = roundTrips()
  await sleep(FOR_MS)
  const each = (roundTrips() - before) / WORKERS / (FOR_MS / 10_000)
  for (const service of services) await service.close({ drainTimeoutMs: 1_000 })
  printTable({
    title: 'Round trips of idle workers to Postgres while NATS dispatches',
    columns: ['', 'in 10 s, each'],
    rows: [[`${WORKERS} workers`, formatNumber(each)]],
  })
  printClaim({
    text: 'NATS: at most one round trip of an idle worker to Postgres in 10 s',
    atMost: 1,
    measured: each,
  })
}
