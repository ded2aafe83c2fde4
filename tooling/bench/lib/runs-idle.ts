/** Measures the load of idle workers on Postgres. */
import { setTimeout as sleep } from 'node:timers/promises'

import { query } from './query.ts'
import { openService } from './runs-services.ts'
import { formatNumber } from './report.ts'
import { NONE, printStores, type StoreRow } from './runs-table.ts'
import { teamNamed } from './runs-teams.ts'
import { sized } from './form.ts'

import type { Places } from './runs-places.ts'

const WORKERS = [1, 5]
const FOR_MS = sized(10_000, 200)

/** Longer than the delay of the server's statistics. */
const SETTLE_MS = 1_500

/** Prints transactions per second on the database with a number of idle workers. */
export async function measureIdle(places: Places): Promise<void> {
  const rows: StoreRow[] = []
  for (const count of WORKERS) {
    const perSecond = await idleTransactions(places, count)
    rows.push([`${count} ${count === 1 ? 'worker' : 'workers'}`, NONE, formatNumber(perSecond)])
  }
  printStores('Transactions per second of idle workers', rows)
}

async function idleTransactions(places: Places, count: number): Promise<number> {
  const place = places.postgres()
  const team = await teamNamed('order')
  await using workers = new AsyncDisposableStack()
  for (let index = 0; index < count; index += 1) workers.use(await openService(place, team))
  await sleep(SETTLE_MS)
  const before = await committed(places.url)
  await sleep(FOR_MS)
  // The queries of this function count too: once, because the statistics are updated later.
  return ((await committed(places.url)) - before - 1) / (FOR_MS / 1_000)
}

async function committed(url: string): Promise<number> {
  const [row] = await query(
    url,
    'SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()',
  )
  return Number(row?.['xact_commit'])
}
