/**
 * Measures the load of idle workers on Postgres: their round trips, because the transactions that the server counts
 * include those of autovacuum.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { roundTrips } from './runs-round-trips.ts'
import { openService } from './runs-services.ts'
import { formatNumber } from './report.ts'
import { NONE, printStores, type StoreRow } from './runs-table.ts'
import { teamNamed } from './runs-teams.ts'
import { sized } from './form.ts'

import type { StoreLocations } from './runs-locations.ts'

const WORKERS = [1, 5]
const FOR_MS = sized(10_000, 200)

/** Longer than the first polls. */
const SETTLE_MS = 1_500

/** Prints round trips per second to the database of a number of idle workers. */
export async function measureIdle(locations: StoreLocations): Promise<void> {
  const rows: StoreRow[] = []
  for (const count of WORKERS) {
    const perSecond = await idleRoundTrips(locations, count)
    rows.push([`${count} ${count === 1 ? 'worker' : 'workers'}`, NONE, formatNumber(perSecond)])
  }
  printStores('Round trips per second of idle workers', rows)
}

async function idleRoundTrips(locations: StoreLocations, count: number): Promise<number> {
  const location = locations.postgres()
  const team = await teamNamed('order')
  await using workers = new AsyncDisposableStack()
  for (let index = 0; index < count; index += 1) workers.use(await openService(location, team))
  await sleep(SETTLE_MS)
  const before = roundTrips()
  await sleep(FOR_MS)
  return (roundTrips() - before) / (FOR_MS / 1_000)
}
