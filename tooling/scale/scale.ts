/**
 * `npm run scale`: how far one Postgres goes. Loads a million ended runs and twenty million events, measures claims and
 * submits next to many waiting runs, then lets a fleet of 200 stores work, with kills and a failover,
 * and judges all of its runs like `npm run chaos`. Prints the envelope and its goals, met or not.
 *
 *   load ─▶ claims, events, submits, lists, searches ─▶ add a standby ─▶ fleet: idle ─▶ many owned runs ─▶ work, kills, failover ─▶ judge
 *
 *   node scale/scale.ts [--quick] [--record] [--seed N] [--set SIZE=NUMBER]...
 *
 * Each phase has a time limit. One that fails is reported, and the others still run; what was measured so far is recorded
 * at the end of each. The last phase chooses its load from what the fleet can do, and its duration from the time that is
 * left: all of it takes 15 minutes, 20 at most, and 40 GB of disk. Loopback only. It exits with code 1 if a phase could
 * not run, or the judge found a violation; never because of a measured time.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

import { errorMessage } from '@tutti/core/internal'

import { printClaim, printTable, toClaimResult } from '../bench/lib/report.ts'
import { recordResults } from '../bench/lib/results.ts'
import { query } from '../bench/lib/query.ts'
import { failoverServer, type FailoverServer } from '../postgres/test-database.ts'
import { toEnvelope, type Measurements } from './lib/envelope.ts'
import { countLoaded, endReady, loadRuns, makeReady } from './lib/load.ts'
import { measureEvents } from './lib/measure-events.ts'
import { measureLists } from './lib/measure-lists.ts'
import { measureSearches } from './lib/measure-searches.ts'
import {
  measureClaims,
  measureRenewalWal,
  measureSnapshot,
  measureSubmits,
} from './lib/measure-store.ts'
import { Phases } from './lib/phases.ts'
import { runFleet } from './lib/run-fleet.ts'
import { chooseSizes, replaceSizes, type Sizes } from './lib/sizes.ts'
import { COUNTING, startCounting } from './lib/statement-counts.ts'
import { openPostgresStorage } from '../bench/lib/runs-locations.ts'

/** Settings of a server for many processes, each with four connections. */
const SETTINGS = [
  COUNTING,
  'max_connections=1000',
  'shared_buffers=2GB',
  'max_wal_size=2GB',
  'maintenance_work_mem=512MB',
  'checkpoint_timeout=15min',
]

/** Time limits in milliseconds: the goal for everything, by which the last phase chooses its length, and the phases. */
const GOAL_MS = 15 * 60_000
const LIMIT_MS = 20 * 60_000
const LOAD_LIMIT_MS = 600_000
const CLAIMS_LIMIT_MS = 90_000
const SNAPSHOT_LIMIT_MS = 120_000
const STORE_LIMIT_MS = 120_000
const STANDBY_LIMIT_MS = 240_000

/** Maximum number of violations to print. */
const MAX_PRINTED = 50

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    set: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
  },
})
const seed = Number(values.seed)
if (!Number.isInteger(seed) || seed < 0) {
  console.error(`Cannot use --seed: got ${values.seed}, expected an integer >= 0`)
  process.exit(2)
}
if (values.record && (values.quick || values.set.length > 0)) {
  console.error('Only results of the whole form can be recorded')
  process.exit(2)
}

const sizes = readSizes()
const startedAt = performance.now()
const measured: Measurements = {}
const stop = new AbortController()
say(`seed ${seed}`)
await using server = await failoverServer(SETTINGS)
const phases = new Phases({ say, onLate: () => cutConnections(server), onEnd: record })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    end(`Stopped by ${signal}`)
  })
}
setTimeout(() => {
  end(`Stopped after ${LIMIT_MS / 60_000} minutes`)
}, LIMIT_MS).unref()

await load(server)
// Without the whole database, nothing else can be measured.
if (measured.loaded !== undefined) {
  await measureStore(server)
  await phases.run('Adding a standby', STANDBY_LIMIT_MS, () => server.addStandby())
  await phases.run('Fleet', remainingMs(), async () => {
    const limitMs = GOAL_MS - (performance.now() - startedAt)
    const fleet = { server, sizes, seed, measured, limitMs, say, onMeasured: record }
    phases.problems.push(...(await runFleet({ ...fleet, signal: stop.signal })))
  })
}
finish()

/** Returns the sizes of the test. Ends the process if one cannot be used. */
function readSizes(): Sizes {
  try {
    return replaceSizes(chooseSizes(values.quick), values.set)
  } catch (error) {
    console.error(`Cannot use --set: ${errorMessage(error)}`)
    process.exit(2)
  }
}

/** Loads the database. */
async function load(server: FailoverServer): Promise<void> {
  const { url } = server
  const location = locationOf(url)
  await phases.run('Loading', LOAD_LIMIT_MS, async () => {
    await setWal(server, 'minimal')
    await startCounting(url)
    await (await openPostgresStorage(location))[Symbol.asyncDispose]()
    const loadedAt = performance.now()
    await loadRuns(location, sizes)
    await makeReady(location, sizes)
    await setWal(server, 'replica')
    measured.loadS = (performance.now() - loadedAt) / 1_000
    measured.loaded = await countLoaded(location)
  })
}

/** Restarts the server with or without the WAL that a standby needs. */
async function setWal(
  { url, stop: stopServer, start }: FailoverServer,
  level: 'minimal' | 'replica',
): Promise<void> {
  await query(
    url,
    `ALTER SYSTEM SET wal_level = ${level}`,
    `ALTER SYSTEM SET max_wal_senders = ${level === 'minimal' ? 0 : 10}`,
  )
  await stopServer()
  await start()
}

/** Measures the store of the loaded database alone. */
async function measureStore({ url }: FailoverServer): Promise<void> {
  const location = locationOf(url)
  await phases.run('Claims', CLAIMS_LIMIT_MS, async () => {
    measured.claims = await measureClaims(location, sizes)
  })
  const { claims } = measured
  if (claims !== undefined) {
    await phases.run('Claims next to a snapshot', SNAPSHOT_LIMIT_MS, async () => {
      measured.snapshot = await measureSnapshot(location, sizes, claims.by16)
    })
  }
  await phases.run('Events with listeners', STORE_LIMIT_MS, async () => {
    measured.events = await measureEvents(location, sizes)
  })
  await phases.run('Submits', STORE_LIMIT_MS, async () => {
    measured.submits = await measureSubmits(location, sizes)
  })
  await phases.run('Lists', STORE_LIMIT_MS, async () => {
    measured.listsAlone = await measureLists(location)
  })
  await phases.run('Searches', STORE_LIMIT_MS, async () => {
    measured.searches = await measureSearches(location, sizes)
  })
  await phases.run('Renewals', STORE_LIMIT_MS, async () => {
    measured.renewalWal = await measureRenewalWal(location)
  })
  await phases.run('Ending the runs that wait', STORE_LIMIT_MS, () => endReady(location))
}

function locationOf(url: string) {
  return { connectionString: url, schema: 'tutti' }
}

/** Returns the time until the whole test must end, in milliseconds. */
function remainingMs(): number {
  return LIMIT_MS - (performance.now() - startedAt)
}

/** Ends all other connections, and with them the statements of a phase that takes too long. */
async function cutConnections({ url }: FailoverServer): Promise<void> {
  await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )
}

/** Ends early, with what was measured. Processes and servers end with this process. */
function end(why: string): void {
  phases.problems.push(why)
  stop.abort()
  finish()
  process.exit()
}

function finish(): void {
  const { problems } = phases
  measured.totalS = (performance.now() - startedAt) / 1_000
  const { table, claims } = toEnvelope(measured, sizes)
  printTable(table)
  for (const claim of claims) printClaim(claim)
  record()
  for (const problem of problems.slice(0, MAX_PRINTED)) console.log(`VIOLATION ${problem}`)
  say(problems.length === 0 ? 'No violations' : `${problems.length} violations; seed ${seed}`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

/** Records what was measured so far. A later phase replaces it. */
function record(): void {
  if (!values.record) return
  const { table, claims } = toEnvelope(measured, sizes)
  recordResults([{ area: 'scale', tables: [table], claims: claims.map(toClaimResult) }])
}

function say(text: string): void {
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${text}`)
}
