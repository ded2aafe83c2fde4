/** Measures the load of idle workers on Postgres, while NATS dispatches. */
import { setTimeout as sleep } from 'node:timers/promises'

import { builtPackage } from './built.ts'
import { sized } from './form.ts'
import { openNatsStorage, type NatsPlaces } from './nats-stores.ts'
import { query } from './query.ts'
import { formatNumber, printClaim, printTable } from './report.ts'
import { teamNamed } from './runs-teams.ts'

type RunsEntryPoint = typeof import('../../../packages/runs/src/index.ts')

const WORKERS = 10
const FOR_MS = sized(60_000, 500, 20_000)

/** Longer than the delay of the server's statistics, and than the first polls. */
const SETTLE_MS = sized(20_000, 100)

/** Prints the transactions of an idle worker in ten seconds. */
export async function measureNatsIdle({ places, cluster }: NatsPlaces): Promise<void> {
  const { RunService } = await builtPackage<RunsEntryPoint>('runs')
  const place = places.postgres()
  const team = await teamNamed('order')
  const services = []
  for (let n = 0; n < WORKERS; n += 1) {
    const service = new RunService(await openNatsStorage(place, cluster), [team])
    await service.start()
    services.push(service)
  }
  await sleep(SETTLE_MS)
  const before = await countTransactions(places.url)
  await sleep(FOR_MS)
  const transactions = (await countTransactions(places.url)) - before - 1
  for (const service of services) await service.close({ drainTimeoutMs: 1_000 })
  const each = transactions / WORKERS / (FOR_MS / 10_000)
  printTable({
    title: `Transactions of idle workers on Postgres while NATS dispatches`,
    columns: ['', 'in 10 s, each'],
    rows: [[`${WORKERS} workers`, formatNumber(each)]],
  })
  printClaim({
    text: 'NATS: at most one transaction of an idle worker in 10 s',
    atMost: 1,
    measured: each,
  })
}

async function countTransactions(url: string): Promise<number> {
  const [row] = await query(
    url,
    'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  )
  return Number(row?.['count'])
}
