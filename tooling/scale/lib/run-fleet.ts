/**
 * Lets a fleet work on a loaded server: first idle, then with many owned runs, then with submits, text deltas, reviews,
 * kills and one failover. The chaos judge checks all of its runs.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { formatNumber, formatTable } from '../../bench/lib/report.ts'
import { takeoverTimes } from '../../chaos/lib/figures.ts'
import { judgeCalls } from '../../chaos/lib/judge-calls.ts'
import { judgePeople } from '../../chaos/lib/judge-people.ts'
import { judgeRuns } from '../../chaos/lib/judge-runs.ts'
import { findLostRuns } from '../../chaos/lib/lost-changes.ts'
import { runChaos, type ChaosEnd, type ChaosSystem } from '../../chaos/lib/run-chaos.ts'
import { chooseDuration, chooseLoad } from './choose-load.ts'
import { planHeldRuns, planSteadyFaults, planSteadyRuns } from './plan-steady.ts'
import { readCounts, subtractCounts } from './statement-counts.ts'
import { measureLoad, timeLists, type LoadRate } from './watch-load.ts'

import type { Evidence } from '../../chaos/lib/evidence.ts'
import type { Fault } from '../../chaos/lib/faults.ts'
import type { FleetResult, Measurements } from './envelope.ts'
import type { Sizes } from './sizes.ts'
import type { FailoverServer } from '../../postgres/test-database.ts'

/** A loaded server, and where to put what is measured. */
export interface FleetOptions {
  readonly server: FailoverServer
  readonly sizes: Sizes
  readonly seed: number
  readonly measured: Measurements
  /** Time until its processes should have ended and its runs be judged, in milliseconds. */
  readonly limitMs: number
  readonly signal: AbortSignal
  readonly say: (text: string) => void
  /** Called when something was measured. */
  readonly onMeasured: () => void
}

const PROGRAM = fileURLToPath(new URL('../fixtures/stores.mjs', import.meta.url))

/** Maximum time until all held runs are owned, in milliseconds. A slow machine continues with fewer. */
const START_LIMIT_MS = 150_000

/** Number of held runs that are submitted at the same time. */
const SUBMITTERS = 16

/** Time that ready processes need to register and to close the connections of their start, in milliseconds. */
const STARTED_MS = 15_000

/** Part of the steady phase in which its load is measured, before the failover. */
const LOAD_PART = 5

/** Interval at which owned runs are counted, in milliseconds. */
const LOOK_MS = 500

/** Slots in addition to those of held runs. */
const MORE_RUNNING = 20

/** Period after a failover for counting runs without an owner, in milliseconds. */
const RESUMED_WITHIN_MS = 60_000

/** Number of statements that are listed, and the maximum length of each. */
const MAX_STATEMENTS = 15
const STATEMENT_LENGTH = 110

/** Part of the processes that may be dead while the others own all runs. */
const DEAD_PART = 0.15

/** Runs the fleet and returns the violations. */
export async function runFleet(options: FleetOptions): Promise<readonly string[]> {
  const { server, sizes, seed, measured, signal, say } = options
  const { hosts, storesPerHost, owned, leaseMs } = sizes
  const maxRunning = owned + MORE_RUNNING
  const perStore = Math.ceil(maxRunning / (hosts * storesPerHost * (1 - DEAD_PART))) + 2
  const startedAt = performance.now()
  const lists: number[] = []
  let plan = { steadyMs: 0, limitMs: 0, runsPerSecond: 1 }
  const end = await runChaos({
    seed,
    runs: () => planSteadyRuns(seed, plan),
    faults: () => planSteadyFaults(plan),
    workers: hosts,
    apis: 2,
    isSynchronous: false,
    leaseMs,
    maxRunning,
    server,
    environment: {
      // The processes do not go through the proxy that loses replies.
      DATABASE_URL: server.url,
      CHAOS_MAX_QUEUED: '1000000',
      SCALE_STORES: String(storesPerHost),
      SCALE_RUNS_PER_STORE: String(perStore),
    },
    workerProgram: [PROGRAM],
    prepare: async (system) => {
      await prepare(system, options)
      const remainingMs = options.limitMs - (performance.now() - startedAt)
      plan = planSteady(system, options, remainingMs)
      measured.lists = lists
      void timeLists(system.clients, system.over, lists)
      void measureLoad(server.url, plan.steadyMs / LOAD_PART).then(
        (load) => {
          // A failover resets the counters.
          if (load.transactions < 0) return
          measured.busy = load
          say(describeStatements(load))
          options.onMeasured()
        },
        () => undefined,
      )
    },
    limitMs: () => plan.limitMs,
    signal,
    say,
  })
  const { result, violations } = judgeFleet(end)
  measured.fleet = result
  return violations
}

/** Chooses load and duration of the steady phase, and starts the text deltas. */
function planSteady(
  { counter }: ChaosSystem,
  { sizes, measured, say }: FleetOptions,
  remainingMs: number,
): { readonly steadyMs: number; readonly limitMs: number; readonly runsPerSecond: number } {
  const { owned = 1, startedPerSecond = 1 } = measured
  const load = chooseLoad(startedPerSecond)
  const { runsPerSecond, wordsPerSecond } = load
  const { steadyMs: mostMs, leastSteadyMs: leastMs } = sizes
  const duration = chooseDuration({ remainingMs, owned, startedPerSecond, mostMs, leastMs })
  measured.load = load
  counter.setWordMs((1_000 * owned) / wordsPerSecond)
  say(
    `The fleet works for ${formatNumber(duration.steadyMs / 1_000)} s: kills, a failover, ` +
      `${formatNumber(runsPerSecond)} submits/s and ${formatNumber(wordsPerSecond)} text deltas/s, ` +
      `half of what it can do`,
  )
  return { ...duration, runsPerSecond }
}

/** Measures the idle fleet, counts claims per submit, and submits the runs that are held. */
async function prepare(
  { people, database, over }: ChaosSystem,
  { server, sizes, seed, measured, say, onMeasured }: FleetOptions,
): Promise<void> {
  const { counted, others } = planHeldRuns(seed, sizes)
  say('The fleet idles')
  await sleep(STARTED_MS)
  measured.idle = await measureLoad(server.url, sizes.idleMs)
  say(describeStatements(measured.idle))
  onMeasured()
  const countedAt = performance.now()
  const before = await readCounts(server.url, 'claim')
  await people.submitAll(counted)
  const after = await readCounts(server.url, 'claim')
  const polls = (measured.idle.claims * (performance.now() - countedAt)) / 1_000
  const claims = subtractCounts(after, before).calls - polls
  // A busy machine polls less often while runs are submitted; then the rest is not known.
  if (claims > 0) measured.claimsPerSubmit = claims / counted.length
  say(`Submitting ${others.length} runs that are held`)
  const startedAt = performance.now()
  const isOver = (): boolean => over.aborted || performance.now() - startedAt > START_LIMIT_MS
  const left = [...others]
  const submit = async (): Promise<void> => {
    for (let run = left.shift(); run !== undefined && !isOver(); run = left.shift()) {
      await people.submitAll([run])
    }
  }
  await Promise.all(Array.from({ length: SUBMITTERS }, submit))
  measured.owned = await ownedRuns(database)
  while (!isOver() && measured.owned < sizes.owned) {
    await sleep(LOOK_MS)
    measured.owned = await ownedRuns(database)
  }
  measured.startedPerSecond =
    (measured.owned - counted.length) / ((performance.now() - startedAt) / 1_000)
  say(`${measured.owned} runs are owned`)
  onMeasured()
}

async function ownedRuns(database: ChaosSystem['database']): Promise<number> {
  return (await database.states()).get('owned') ?? 0
}

/** Counts the runs whose leases did not last until they could be renewed after the failover, or whose claims it lost. */
function countResumed({ transitions, faults }: Evidence, failover: Fault | undefined): number {
  if (failover === undefined) return Number.NaN
  const next = faults.find(({ kind, at }) => kind === 'kill_worker' && at > failover.at)
  const untilMs = Math.min(failover.at + RESUMED_WITHIN_MS, next?.at ?? Infinity)
  const owned = new Set<string>()
  const resumed = new Set<string>()
  for (const { runId, state, at } of transitions) {
    if (at > untilMs) break
    if (at > failover.at && state === 'owned' && owned.has(runId)) resumed.add(runId)
    else if (at <= failover.at && state === 'owned') owned.add(runId)
    else if (at <= failover.at) owned.delete(runId)
  }
  return resumed.size
}

function judgeFleet(end: ChaosEnd): {
  readonly result: FleetResult
  readonly violations: readonly string[]
} {
  const { evidence, problems, wallMs } = end
  const { runs, faults, transitions } = evidence
  const calls = judgeCalls(evidence)
  const violations = [
    ...problems,
    ...judgeRuns(evidence),
    ...calls.violations,
    ...judgePeople(evidence),
  ]
  const failover = faults.find(({ kind }) => kind === 'fail_over')
  const next = transitions.find(
    ({ state, at }) => state === 'owned' && at > (failover?.until ?? Infinity),
  )
  const result = {
    runs: runs.length,
    events: runs.reduce((sum, { events }) => sum + events.length, 0),
    seconds: wallMs / 1_000,
    reviews: evidence.asked.filter(({ what, answer }) => what.kind === 'decide' && answer === 'ok')
      .length,
    kills: faults.filter(({ kind }) => kind === 'kill_worker').length,
    takeovers: takeoverTimes(evidence),
    failoverMs: (next?.at ?? Number.NaN) - (failover?.at ?? Number.NaN),
    lostByFailover: findLostRuns(evidence).size,
    resumedAfterFailover: countResumed(evidence, failover),
    violations: violations.length,
  }
  return { result, violations }
}

/** Lists the statements that took the most time. */
function describeStatements({ transactions, byStatement }: LoadRate): string {
  const rows = byStatement
    .slice(0, MAX_STATEMENTS)
    .map(({ text, calls, execMs, buffers }) => [
      formatNumber(calls),
      formatNumber(execMs),
      formatNumber(buffers),
      text.replaceAll(/\s+/g, ' ').slice(0, STATEMENT_LENGTH),
    ])
  const columns = ['calls/s', 'ms/s', 'buffers/s', 'statement']
  return `${formatNumber(transactions)} transactions/s:\n${formatTable({ title: '', columns, rows })}`
}
