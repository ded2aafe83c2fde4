/**
 * `npm run chaos`: executes many runs on several processes and one Postgres, with random kills, pauses and restarts
 * of all of them, then checks everything that Tutti guarantees. Prints statistics and every violation; exits with
 * code 1 if there is one. With `--store embedded`, one process with a SQLite file replaces them.
 *
 *   node chaos/chaos.ts [--runs 200] [--workers 4] [--apis 2] [--seed N] [--minutes 5]
 *       [--store embedded | --nats] [--synchronous | --deploys N] [--evidence FILE]
 *
 * A seed always gives the same runs and the same faults, except for their exact timing. Loopback only.
 */
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { runTestProgram, toIntegers, type TestResult } from '../test-kit/test-program.ts'
import { figuresOf } from './lib/figures.ts'
import { BUILDS } from './lib/builds.ts'
import { judgeCalls } from './lib/judge-calls.ts'
import { judgeDeploys } from './lib/judge-deploys.ts'
import { judgeKept } from './lib/judge-kept.ts'
import { judgeLimit } from './lib/judge-limit.ts'
import { judgeOutside } from './lib/judge-outside.ts'
import { judgePeople } from './lib/judge-people.ts'
import { judgeRuns } from './lib/judge-runs.ts'
import {
  addFeatures,
  planDeploys,
  planEmbeddedFaults,
  planFaults,
  planKills,
  planRuns,
  type PlannedFault,
} from './lib/plan.ts'
import { DEFAULT_LEASE_MS, runChaos } from './lib/run-chaos.ts'

const USAGE = `Usage: npm run chaos -- [options]

  --runs N         runs to submit (200)
  --workers N      processes that execute runs (4)
  --apis N         processes that take requests (2)
  --seed N         what decides about runs and faults (random)
  --minutes N      time after which runs count as stuck (5)
  --store NAME     postgres, or embedded: one process with a SQLite file (postgres)
  --nats           whether three NATS servers dispatch the runs, with faults of them too
  --synchronous    whether commits wait for the standby, so that the failover loses nothing
  --deploys N      rolling deploys of other code, at most 3, with kills in place of the other faults (0)
  --faults N       faults to inject (as many as there is time for)
  --retain N       ended runs to retain; waits until older ones are deleted and the webhook notified (all)
  --evidence FILE  where to write all that was seen, as JSON
`

const STORES = ['postgres', 'embedded']

/** More faults than there is time for. */
const MANY = 1_000_000

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stop.abort()
  })
}
process.exit(await runTestProgram({ usage: USAGE, readOptions, run }))

async function run(options: Asked): Promise<TestResult> {
  const { seed, runs, workers, apis, isEmbedded, hasNats, isSynchronous, deploys } = options
  const { limitMs, evidenceFile, retain } = options
  const fleet = isEmbedded ? 'one process' : `${workers} workers, ${apis} api processes`
  console.log(`chaos: seed ${seed}, ${runs} runs, ${fleet}`)
  const planned = planRuns(seed, runs)
  const end = await runChaos({
    seed,
    runs: deploys > 0 ? planned : addFeatures(seed, planned),
    faults: chooseFaults(options),
    deploys: deploys > 0 ? planDeploys(seed, { runs, deploys }) : undefined,
    workers,
    apis,
    isEmbedded,
    hasNats,
    isSynchronous,
    maxRetained: retain,
    limitMs,
    signal: stop.signal,
    say: console.log,
  })
  if (evidenceFile !== undefined) writeFileSync(evidenceFile, JSON.stringify(end))
  const calls = judgeCalls(end.evidence)
  const limit = judgeLimit(end.evidence)
  for (const [what, value] of figuresOf(end, { calls, limit }))
    console.log(`${what.padEnd(42)}${value}`)
  const violations = [
    ...end.problems,
    ...judgeRuns(end.evidence),
    ...calls.violations,
    ...limit.violations,
    ...judgePeople(end.evidence),
    ...judgeKept(end.evidence),
    ...judgeOutside(end.evidence),
    ...judgeDeploys(end.evidence),
  ]
  const engine = `${isEmbedded ? ' --store embedded' : ''}${hasNats ? ' --nats' : ''}`
  const how = isSynchronous ? ' --synchronous' : deploys > 0 ? ` --deploys ${deploys}` : ''
  return { violations, repeat: `--seed ${seed} --runs ${runs}${engine}${how}` }
}

function* chooseFaults(asked: Asked): Generator<PlannedFault, void> {
  let left = asked.faults
  for (const fault of planAllFaults(asked)) {
    if (left === 0) return
    left -= 1
    yield fault
  }
}

function planAllFaults({
  seed,
  isEmbedded,
  hasNats,
  isSynchronous,
  deploys,
}: Asked): Generator<PlannedFault, never> {
  if (isEmbedded) return planEmbeddedFaults(seed)
  if (deploys > 0) return planKills(seed)
  const failover = isSynchronous ? 'fail_over_synchronously' : 'fail_over'
  return planFaults(seed, { leaseMs: DEFAULT_LEASE_MS, failover, hasNats })
}

/** Options of the command line. */
interface Asked {
  readonly seed: number
  readonly runs: number
  readonly workers: number
  readonly apis: number
  /** Whether one process executes the runs, on the embedded store. */
  readonly isEmbedded: boolean
  /** Whether NATS dispatches the runs. */
  readonly hasNats: boolean
  readonly isSynchronous: boolean
  /** Number of deploys. */
  readonly deploys: number
  readonly limitMs: number
  /** Maximum number of faults. */
  readonly faults: number
  /** Number of ended runs that are retained; undefined for all. */
  readonly retain: number | undefined
  /** File for all observations, as JSON. */
  readonly evidenceFile: string | undefined
}

function readOptions(): Asked {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '200' },
      workers: { type: 'string', default: '4' },
      apis: { type: 'string', default: '2' },
      seed: { type: 'string', default: String(randomInt(1_000_000)) },
      minutes: { type: 'string', default: '5' },
      store: { type: 'string', default: 'postgres' },
      faults: { type: 'string', default: String(MANY) },
      retain: { type: 'string' },
      nats: { type: 'boolean', default: false },
      synchronous: { type: 'boolean', default: false },
      deploys: { type: 'string', default: '0' },
      evidence: { type: 'string' },
    },
  })
  const { runs, workers, apis, faults, retain } = values
  const { minutes, seed, deploys } = values
  const counts = toIntegers({ runs, workers, apis, faults, minutes }, 1)
  const numbers = { ...counts, ...toIntegers({ seed, deploys }, 0) }
  if (numbers.deploys >= BUILDS.length) {
    throw new RangeError(`Cannot use --deploys: got ${deploys}, expected <= ${BUILDS.length - 1}`)
  }
  if (!STORES.includes(values.store)) {
    throw new RangeError(
      `Cannot use --store: got "${values.store}", not one of ${STORES.join(', ')}`,
    )
  }
  const isEmbedded = values.store === 'embedded'
  if (isEmbedded && (values.nats || values.synchronous || numbers.deploys > 0)) {
    throw new RangeError('Cannot use --store embedded with --nats, --synchronous or --deploys')
  }
  if (values.synchronous && numbers.deploys > 0) {
    throw new RangeError('Cannot use --deploys with --synchronous: deploys have no failover')
  }
  if (values.nats && numbers.deploys > 0) {
    throw new RangeError('Cannot use --deploys with --nats: deploys have no faults of NATS')
  }
  return {
    ...numbers,
    retain: retain === undefined ? undefined : toIntegers({ retain }, 1).retain,
    isEmbedded,
    hasNats: values.nats,
    isSynchronous: values.synchronous,
    limitMs: numbers.minutes * 60_000,
    evidenceFile: values.evidence,
  }
}
