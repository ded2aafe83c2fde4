/**
 * Measures the disk space of one run of many model calls.
 *
 * The distinct bytes are those of its events as readers get them, in JSON, where each message of the conversation
 * counts once. The database holds them and everything else: indexes, pages, the steps for a resume, and every copy.
 * Counted is what the run adds to an empty store.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { query } from './lib/query.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'
import { openLocations, type StoreLocation, type StoreLocations } from './lib/runs-locations.ts'
import { awaitEnd, openService } from './lib/runs-services.ts'
import { LONG_TURNS, teamNamed } from './lib/runs-teams.ts'

import type { LoggedRunEvent } from '../../packages/protocol/src/index.ts'
import type { RunService } from '../../packages/runs/src/index.ts'

/** Maximum ratio of database bytes to distinct bytes. */
const MAX_RATIO = 1.3

const MIB = 1024 * 1024

await using locations = await openLocations()
const stores = {
  'embedded store': await measureRun(locations, locations.embedded()),
  Postgres: await measureRun(locations, locations.postgres()),
}
printTable({
  title: `Disk space of a run of ${LONG_TURNS} model calls`,
  columns: ['store', 'events, MiB', 'distinct, MiB', 'database, MiB', 'database to distinct'],
  rows: Object.entries(stores).map(([store, { events, distinct, database }]) => [
    store,
    formatNumber(events / MIB),
    formatNumber(distinct / MIB),
    formatNumber(database / MIB),
    formatNumber(database / distinct),
  ]),
})
for (const [store, { distinct, database }] of Object.entries(stores)) {
  printClaim({
    text: `${store}: at most ${MAX_RATIO} times the distinct bytes`,
    atMost: MAX_RATIO,
    measured: database / distinct,
    unit: ' times',
  })
}

interface RunBytes {
  readonly events: number
  readonly distinct: number
  readonly database: number
}

async function measureRun(all: StoreLocations, location: StoreLocation): Promise<RunBytes> {
  const team = await teamNamed('long')
  await (await openService(location, team))[Symbol.asyncDispose]()
  const before = await databaseBytes(all, location)
  let bytes
  {
    await using opened = await openService(location, team)
    const { runId } = await opened.service.submit({})
    await awaitEnd(opened.service, runId)
    bytes = await eventBytes(opened.service, runId)
  }
  return { ...bytes, database: (await databaseBytes(all, location)) - before }
}

async function databaseBytes({ url }: StoreLocations, location: StoreLocation): Promise<number> {
  if ('directory' in location) {
    const sizes = readdirSync(location.directory).map(
      (file) => statSync(join(location.directory, file)).size,
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  const [row] = await query(
    url,
    `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = '${location.schema}'::regnamespace`,
  )
  return Number(row?.['bytes'])
}

async function eventBytes(
  service: RunService,
  runId: string,
): Promise<Pick<RunBytes, 'events' | 'distinct'>> {
  const bytes = { events: 0, distinct: 0 }
  const messages = new Set<string>()
  for await (const events of service.follow({ runId, from: 0 })) {
    for (const event of events) {
      bytes.events += sizeOf(event)
      bytes.distinct += sizeOf(withoutMessages(event))
      if (event.type !== 'llm_iteration_started') continue
      for (const message of event.messages) messages.add(JSON.stringify(message))
    }
  }
  for (const message of messages) bytes.distinct += Buffer.byteLength(message)
  return bytes
}

function withoutMessages(event: LoggedRunEvent): LoggedRunEvent {
  return event.type === 'llm_iteration_started' ? { ...event, messages: [] } : event
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
