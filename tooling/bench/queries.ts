/**
 * Measures lists, filters, usage and retention of a Postgres store with a million ended runs and twenty million
 * events. The database is built first: see `lib/big-database.ts`. The server has its default settings, except that
 * commits do not wait for the disk and that pages of ten thousand runs fit into `shared_buffers`. Queries take turns, and
 * each is executed once before measurements count.
 */
import { randomUUID } from 'node:crypto'

import { fillDatabase, submissionOf } from './lib/big-database.ts'
import { sized } from './lib/form.ts'
import { query } from './lib/query.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'
import { openLocations, openStorage, type PostgresLocation } from './lib/runs-locations.ts'
import { openService } from './lib/runs-services.ts'
import { quantile } from './lib/runs-table.ts'
import { nowMs, teamNamed } from './lib/runs-teams.ts'
import { runsPerSecond } from './lib/runs-throughput.ts'

import type { RunStorage } from '../../packages/runs/src/adapter.ts'
import type { RunQuery } from '../../packages/runs/src/index.ts'

const EXECUTED = sized(1_000, 20, 500)
const COPIES = sized(1_060, 5, 200)
const ROUNDS = sized(11, 1)

/** Limits of a query, and of the time to build the database. */
const MAX_QUERY_MS = 50
const MAX_BUILD_S = 240

/** Runs on a page of the dashboard. */
const PAGE = { limit: 50, offset: 0 }

/** Ended runs that the retention deletes in one step. */
const DELETED = 100
const WRITE_MS = sized(4_000, 100)
const WIDTH = 20

await using locations = await openLocations({ durable: false, settings: ['shared_buffers=1GB'] })
const location = locations.postgres()
const beginMs = nowMs()
await fillDatabase(location, { executed: EXECUTED, copies: COPIES })
const buildS = (nowMs() - beginMs) / 1_000
const size = await sizeOf(location)
await measureQueries(location)
await measureRetention(location)

/** Prints the time of each query. */
async function measureQueries(at: PostgresLocation): Promise<void> {
  await using storage = await openStorage(at)
  const times = new Map(Object.keys(queriesOf(storage)).map((name) => [name, [] as number[]]))
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, ask] of Object.entries(queriesOf(storage))) {
      const askedMs = nowMs()
      await ask()
      if (round > 0) times.get(name)?.push(nowMs() - askedMs)
    }
  }
  const results = [...times].map(([name, all]) => ({
    name,
    ms: quantile(all, 0.5),
    longest: quantile(all, 1),
  }))
  printTable({
    title: `Queries with ${formatNumber(size.runs)} ended runs and ${formatNumber(size.events)} events, ${formatNumber(size.gib)} GiB`,
    columns: ['query', 'median, ms', 'longest, ms'],
    rows: results.map(({ name, ms, longest }) => [name, formatNumber(ms), formatNumber(longest)]),
  })
  printClaim({
    text: `every query takes at most ${MAX_QUERY_MS} ms at the median`,
    atMost: MAX_QUERY_MS,
    measured: Math.max(...results.map(({ ms }) => ms)),
    unit: ' ms',
  })
  printClaim({
    text: `the database is built in at most ${MAX_BUILD_S / 60} minutes`,
    atMost: MAX_BUILD_S,
    measured: buildS,
    unit: ' s',
  })
}

/** Returns what the server asks of its store for lists, submits and metrics. */
function queriesOf(storage: RunStorage): Readonly<Record<string, () => Promise<unknown>>> {
  const list = (filter: Partial<RunQuery>) => () => storage.runs.list({ ...PAGE, ...filter })
  const findOne = (filter: Partial<RunQuery>) => async () => {
    const { runs } = await list(filter)()
    if (runs.length !== 1) throw new Error(`Found ${runs.length} runs: ${JSON.stringify(filter)}`)
  }
  // The id and the ticket of the last executed run are not the start of others.
  const { runId, ticket } = submissionOf(EXECUTED, Math.ceil(COPIES / 2))
  const day = 24 * 60 * 60_000
  return {
    'newest runs': list({}),
    'newest failed runs': list({ statuses: ['FAILED'] }),
    'newest completed runs': list({ statuses: ['COMPLETED'] }),
    'running runs (there are none)': list({ statuses: ['RUNNING'] }),
    'runs with a tag value of one run in a hundred': list({ tag: { key: 'team', value: 't3' } }),
    'the run with a tag value': findOne({ tag: { key: 'ticket', value: ticket } }),
    'runs with a tag': list({ tag: { key: 'team' } }),
    'runs of an ensemble': list({ ensemble: 'shop' }),
    'failed runs with a tag value': list({
      statuses: ['FAILED'],
      tag: { key: 'team', value: 't50' },
    }),
    'text of one run': findOne({ text: ticket }),
    'the start of an id': findOne({ text: runId }),
    'text of no run': list({ text: 'no such text' }),
    'text of every run': list({ text: 'report' }),
    'the 20th page': list({ offset: 1_000 }),
    'runs by change': () => storage.runs.listByChange({ ensembles: ['shop'], limit: 50 }),
    'submit within the quota and the budget of an actor': () =>
      storage.runs.create(
        {
          runId: `asked-${randomUUID()}`,
          ensemble: 'shop',
          workflow: 'SEQUENTIAL',
          inputs: {},
          tags: {},
          taskCount: 1,
          createdAt: Date.now(),
          actor: 'key-7',
        },
        {
          maxUnfinishedRuns: 1_000,
          quota: {
            actor: 'key-7',
            maxUnfinishedRuns: 1_000,
            spend: { maxCostUsd: 1_000_000, since: Date.now() - 30 * day },
          },
          firstEvent: {
            type: 'run_queued',
            queuedAt: new Date().toISOString(),
            ensemble: 'shop',
            workflow: 'SEQUENTIAL',
            totalTasks: 1,
            inputs: {},
            tags: {},
          },
        },
      ),
    'metrics of the store': () => storage.queue.metrics(),
  }
}

/** Prints the rates of writes and deletes, each alone and both together. */
async function measureRetention(at: PostgresLocation): Promise<void> {
  const options = { maxConcurrentRuns: WIDTH, maxQueuedRuns: 1_000 }
  await using opened = await openService(at, await teamNamed('order'), options)
  await using storage = await openStorage(at)
  await runsPerSecond(opened.service, WIDTH, WRITE_MS / 4)
  const alone = await runsPerSecond(opened.service, WIDTH, WRITE_MS)
  let isWriting = true
  let deleted = 0
  const remove = async (): Promise<void> => {
    const startedMs = nowMs()
    while (isWriting) {
      const ids = await storage.runs.deleteEnded({ keep: EXECUTED, limit: DELETED })
      deleted += ids.length
    }
    deleted /= (nowMs() - startedMs) / 1_000
  }
  const removing = remove()
  const together = await runsPerSecond(opened.service, WIDTH, WRITE_MS)
  isWriting = false
  await removing
  printTable({
    title: `Retention with ${formatNumber(size.runs)} ended runs`,
    columns: ['', 'runs/s'],
    rows: [
      [`executed, ${WIDTH} at once`, formatNumber(alone.perSecond)],
      ['executed while others are deleted', formatNumber(together.perSecond)],
      ['deleted meanwhile', formatNumber(deleted)],
    ],
  })
  printClaim({
    text: 'retention deletes at least as many runs as are executed meanwhile',
    atLeast: 1,
    measured: deleted / together.perSecond,
    unit: ' times',
  })
}

async function sizeOf({ connectionString, schema }: PostgresLocation): Promise<{
  readonly runs: number
  readonly events: number
  readonly gib: number
}> {
  const [row] = await query(
    connectionString,
    `SELECT (SELECT count(*) FROM ${schema}.runs WHERE ended_at IS NOT NULL) AS runs,
       (SELECT count(*) FROM ${schema}.events) AS events,
       pg_database_size(current_database()) AS bytes`,
  )
  return {
    runs: Number(row?.['runs']),
    events: Number(row?.['events']),
    gib: Number(row?.['bytes']) / 1024 ** 3,
  }
}
