/**
 * `npm run scale`: how far one Postgres goes. Loads a million ended runs and twenty million events, measures claims and
 * submits next to many waiting runs, then lets a fleet of 200 stores work for five minutes, with kills and a failover,
 * and judges all of its runs like `npm run chaos`. Prints the envelope and its goals, met or not.
 *
 *   load ─▶ claims, submits ─▶ add a standby ─▶ fleet: idle ─▶ many owned runs ─▶ work, kills, failover ─▶ judge
 *
 *   node scale/scale.ts [--quick] [--record] [--seed N]
 *
 * It ends after 20 minutes at the latest and needs about 35 GB of disk. Loopback only. It exits with code 1 if a phase
 * could not run, or the judge found a violation; never because of a time.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

import { errorMessage } from '@tutti/core'

import { currentReport } from '../bench/lib/report.ts'
import { recordResults } from '../bench/lib/results.ts'
import { failoverServer, type FailoverServer } from '../postgres/test-database.ts'
import { printEnvelope, type Measurements } from './lib/envelope.ts'
import { countLoaded, endReady, loadRuns, makeReady } from './lib/load.ts'
import { measureClaims, measureRenewalWal, measureSubmits } from './lib/measure-store.ts'
import { runFleet } from './lib/run-fleet.ts'
import { chooseSizes } from './lib/sizes.ts'
import { COUNTING, startCounting } from './lib/statement-counts.ts'
import { openPostgresStorage } from '../bench/lib/runs-places.ts'

/** Settings of a server for many processes, each with four connections. */
const SETTINGS = [
  COUNTING,
  'max_connections=1000',
  'shared_buffers=2GB',
  'max_wal_size=4GB',
  'checkpoint_timeout=15min',
]

/** Time after which it ends with what was measured until then, in milliseconds. */
const LIMIT_MS = 20 * 60_000

/** Maximum number of violations to print. */
const MOST_PRINTED = 50

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
  },
})
const seed = Number(values.seed)
if (!Number.isInteger(seed) || seed < 0) {
  console.error(`Cannot use --seed: got ${values.seed}, expected an integer >= 0`)
  process.exit(2)
}
if (values.record && values.quick) {
  console.error('Only results of the whole form can be recorded')
  process.exit(2)
}

const sizes = chooseSizes(values.quick)
const startedAt = performance.now()
const measured: Measurements = {}
const problems: string[] = []
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    end(`Stopped by ${signal}`)
  })
}
setTimeout(() => {
  end(`Stopped after ${LIMIT_MS / 60_000} minutes`)
}, LIMIT_MS).unref()

say(`seed ${seed}`)
try {
  await using server = await failoverServer(SETTINGS)
  await measureStore(server)
  say('Adding a standby')
  await server.addStandby()
  problems.push(...(await runFleet({ server, sizes, seed, measured, signal: stop.signal, say })))
} catch (error) {
  problems.push(`Could not finish: ${errorMessage(error)}`)
}
finish()

/** Loads the database, and measures its store alone. */
async function measureStore({ url }: FailoverServer): Promise<void> {
  const place = { connectionString: url, schema: 'tutti' }
  await startCounting(url)
  await (await openPostgresStorage(place))[Symbol.asyncDispose]()
  say('Loading')
  const loadedAt = performance.now()
  await loadRuns(place, sizes)
  await makeReady(place, sizes)
  measured.loadS = (performance.now() - loadedAt) / 1_000
  measured.loaded = await countLoaded(place)
  say(`Loaded in ${Math.round(measured.loadS)} s; measuring claims and submits`)
  measured.claims = await measureClaims(place, sizes)
  measured.submits = await measureSubmits(place, sizes)
  measured.renewalWal = await measureRenewalWal(place)
  await endReady(place)
}

/** Ends early, with what was measured. Processes and servers end with this process. */
function end(why: string): void {
  problems.push(why)
  stop.abort()
  finish()
  process.exit()
}

function finish(): void {
  printEnvelope(measured, sizes)
  if (values.record) recordResults([{ area: 'scale', ...currentReport() }])
  for (const problem of problems.slice(0, MOST_PRINTED)) console.log(`VIOLATION ${problem}`)
  say(problems.length === 0 ? 'No violations' : `${problems.length} violations; seed ${seed}`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

function say(text: string): void {
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${text}`)
}
