/**
 * The chaos test: a system of several processes on one Postgres, its users, and faults, until every run has ended.
 *
 *   people ─▶ api processes ─▶ proxy ─▶ Postgres, then its standby
 *                 ▲              ▲         ▲
 *   counter ◀─ workers ──────────┤         │
 *                 ▲              │         │
 *                 └─── faults ───┴─────────┘
 *
 * With NATS, three servers dispatch the runs, and all processes reach them through proxies too. With the embedded store,
 * one process has all roles and there is no Postgres.
 *
 * CHAOS-R1 All random values depend on the seed.
 * CHAOS-R2 Faults are injected as long as there are runs, except in the last third of the time, in which runs end.
 * CHAOS-R3 No process, server or directory remains at the end.
 * CHAOS-R4 A fault waits until tools were called since an earlier one, so that a slow machine gets no faults faster
 *    than it works.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { tcpProxy } from '../../net/tcp-proxy.ts'
import { freePort } from '../../postgres/free-port.ts'
import { failoverServer, type FailoverServer } from '../../postgres/test-database.ts'
import { ApiClients } from './api-clients.ts'
import { startChaosNats, type ChaosNats } from './chaos-nats.ts'
import { startCounter, type Counter } from './counter.ts'
import { ChaosDatabase } from './database.ts'
import { sqliteDialect } from './dialects.ts'
import { readRuns, withoutUnended, type Evidence } from './evidence.ts'
import { Deploys } from './deploys.ts'
import { Faults, type ChaosPostgres } from './faults.ts'
import { Fleet, type Member, type Role } from './fleet.ts'
import { People } from './people.ts'
import { planRuns } from './plan.ts'
import { readStored, type StoredText } from './raw-events.ts'
import { startReceiver, type Receiver } from './receiver.ts'
import { stuckRuns } from './stuck-runs.ts'

import type { PlannedDeploy, PlannedFault, PlannedRun } from './plan.ts'

/** Size of a chaos test. */
export interface ChaosOptions {
  readonly seed: number
  readonly runs: AfterPrepare<readonly PlannedRun[]>
  readonly faults: AfterPrepare<Iterable<PlannedFault>>
  /** Deploys while runs are in flight; their faults contain no failover. @default none */
  readonly deploys?: readonly PlannedDeploy[] | undefined
  /** Whether one process on the embedded store replaces all others. @default false */
  readonly isEmbedded?: boolean
  readonly workers: number
  /** Number of API processes. */
  readonly apis: number
  /** Whether commits wait for the standby. */
  readonly isSynchronous: boolean
  /** Whether NATS dispatches the runs. @default false */
  readonly hasNats?: boolean
  /** Duration of a lease, in milliseconds. @default short, so that runs of a lost process are taken over soon */
  readonly leaseMs?: number
  /** Number of runs that execute at the same time. @default 16 */
  readonly maxRunning?: number
  /**
   * Number of ended runs that are retained. The test then waits until older ones are deleted, and until the webhook has
   * got each notification. @default all, without waiting
   */
  readonly maxRetained?: number | undefined
  /** A filled server, with its standby. @default an empty one */
  readonly server?: FailoverServer
  /** Further variables of all processes. @default none */
  readonly environment?: Readonly<Record<string, string>>
  /** Program of the workers. @default the server */
  readonly workerProgram?: readonly string[]
  /** Called when all processes run, before the runs are submitted. */
  readonly prepare?: (system: ChaosSystem) => Promise<void>
  /** Time limit of the test after `prepare`, in milliseconds. */
  readonly limitMs: AfterPrepare<number>
  /** Ends the test early. */
  readonly signal: AbortSignal
  readonly say: (text: string) => void
}

/** A value, or a function that is called after `prepare`. */
export type AfterPrepare<T> = T | (() => T)

/** The system when all of its processes run. */
export interface ChaosSystem {
  readonly counter: Counter
  readonly people: People
  readonly clients: ApiClients
  readonly database: ChaosDatabase
  /** Aborts at the end of the test. */
  readonly over: AbortSignal
}

/** Result of a chaos test. */
export interface ChaosEnd {
  readonly evidence: Evidence
  /** Violations that were observed during the test. */
  readonly problems: readonly string[]
  readonly wallMs: number
  readonly tries: number
  /** Number of offers that the stream of NATS accepted; undefined without NATS. */
  readonly natsOffers: number | undefined
  /** Longest pause of this process itself, in milliseconds. */
  readonly longestPauseMs: number
}

/** Duration of a lease unless the test chooses another, in milliseconds. */
export const DEFAULT_LEASE_MS = 2_000

/** Number of retained runs, unless the test chooses another. */
const ALL_RETAINED = 1_000_000

/** Number of runs that execute at the same time, unless the test chooses another. */
const DEFAULT_MAX_RUNNING = 16

/** Maximum time until a process is ready at the start, in milliseconds. */
const START_LIMIT_MS = 90_000

/** Fraction of the time in which faults are injected. */
const FAULTY_SHARE = 2 / 3

/** Maximum time until readers see the end of ended runs, in milliseconds. */
const READERS_LIMIT_MS = 20_000

/** Minimum interval at which the test checks whether all runs have ended, in milliseconds. */
const LOOK_MS = 250

/** Time between two of these checks for each millisecond that one takes, because they cost the system under test. */
const LOOK_PAUSE = 20

/** Maximum interval of these checks, in milliseconds. */
const MAX_LOOK_MS = 2_000

/** Runs the chaos test. */
export async function runChaos(options: ChaosOptions): Promise<ChaosEnd> {
  const { seed, say, workerProgram } = options
  const problems: string[] = []
  const onProblem = (problem: string): void => {
    problems.push(problem)
    say(`! ${problem}`)
  }
  await using stack = new AsyncDisposableStack()
  const cwd = mkdtempSync(join(tmpdir(), 'tutti-chaos-'))
  chmodSync(cwd, 0o755)
  stack.defer(() => {
    rmSync(cwd, { recursive: true, force: true })
  })
  const postgres = options.isEmbedded === true ? undefined : await startPostgres(options, stack)
  const dataDirectory = join(cwd, 'data')
  const counter = stack.use(await startCounter(seed))
  const receiver = stack.use(await startReceiver(seed))
  const nats = options.hasNats === true ? stack.use(await startChaosNats()) : undefined
  const environment = {
    ...(postgres === undefined
      ? { TUTTI_DATA_DIR: dataDirectory }
      : { DATABASE_URL: postgres.proxy.url }),
    CHAOS_WEBHOOK_URL: receiver.url,
    CHAOS_COUNTER_URL: counter.url,
    ...describeOptions(options),
  }
  const fleet = stack.use(new Fleet({ environment, cwd, workerProgram, onProblem }))
  await addMembers(fleet, options, nats)
  const database = new ChaosDatabase(
    postgres?.server.url ?? sqliteDialect(join(dataDirectory, 'runs.sqlite')),
  )
  await startFleet(fleet, database)
  await nats?.ready()
  const named = fleet.members.map(({ name, pid }) => `${name} (${pid})`)
  say(`${named.length} processes run: ${named.join(', ')}`)

  const pauses = monitorEventLoopDelay()
  pauses.enable()
  const over = new AbortController()
  stack.defer(() => {
    over.abort()
  })
  const urls = fleet.members.filter(({ role }) => role !== 'worker').map(({ url }) => url)
  const clients = new ApiClients(urls, over.signal)
  const people = new People({ clients, signal: over.signal, onProblem })
  const faults = new Faults({ fleet, database, postgres, nats, onProblem })
  const deploys =
    options.deploys === undefined
      ? undefined
      : new Deploys({
          planned: options.deploys,
          fleet,
          faults,
          people,
          clients,
          database,
          say,
          onProblem,
        })
  await options.prepare?.({ counter, people, clients, database, over: over.signal })
  const startedAt = performance.now()
  const plan = {
    limitMs: resolvePlan(options.limitMs),
    runs: resolvePlan(options.runs),
    planned: resolvePlan(options.faults),
  }
  const tested = { options, people, faults, database, deploys, counter, receiver, fleet, nats }
  const hasEnded = await live({ ...tested, ...plan, onProblem, startedAt, over })
  const wallMs = performance.now() - startedAt
  pauses.disable()
  const longestPauseMs = pauses.max / 1e6
  const readAfterwards = hasEnded ? await readBack(tested, urls) : []
  await stopFleet(fleet, onProblem)
  const natsOffers = await nats?.countOffers()
  const whole = await readEvidence(tested, readAfterwards)
  const evidence = hasEnded ? whole : withoutUnended(whole)
  return { evidence, problems, wallMs, tries: clients.tries, natsOffers, longestPauseMs }
}

/** Reads the streams again that were read live, and those of deleted runs. */
async function readBack(
  { people, database }: Tested,
  urls: readonly string[],
): Promise<readonly StoredText[]> {
  const ids = [...people.streams, ...(await database.deleted())].map(({ runId }) => runId)
  const read: StoredText[] = []
  for (const [number, runId] of ids.entries()) {
    read.push(await readStored(urls[number % urls.length] ?? '', runId))
  }
  return read
}

/**
 * With NATS, waits until all processes use it again, then submits one more run, which must be offered. Returns whether it
 * was submitted.
 */
async function useNats({ fleet, nats, people, options, runs, onProblem }: Life): Promise<boolean> {
  if (nats === undefined) return false
  const until = performance.now() + START_LIMIT_MS
  for (const { name, url } of fleet.members) {
    const isConnected = async (): Promise<boolean> => {
      const response = await fetch(`${url}/api/health/ready`).catch(() => undefined)
      return (await response?.text())?.includes('"connected":true') === true
    }
    while (!(await isConnected())) {
      if (performance.now() > until) {
        onProblem(`${name} did not return to NATS`)
        return false
      }
      await sleep(LOOK_MS)
    }
  }
  const before = await nats.countOffers()
  await people.submitAll(planRuns(options.seed, runs.length + 1).slice(-1))
  while ((await nats.countOffers()) <= before) {
    if (performance.now() > until) {
      onProblem('A run that was submitted after all faults was not offered over NATS')
      break
    }
    await sleep(LOOK_MS)
  }
  return true
}

async function readEvidence(
  tested: Tested,
  readAfterwards: readonly StoredText[],
): Promise<Evidence> {
  const { options, people, faults, database, deploys, counter, receiver } = tested
  const { leaseMs = DEFAULT_LEASE_MS, maxRunning = DEFAULT_MAX_RUNNING } = options
  return {
    leaseMs,
    maxRunning,
    maxRetained: options.maxRetained ?? ALL_RETAINED,
    deleted: await database.deleted(),
    leftovers: await database.leftovers(),
    streams: people.streams,
    readAfterwards,
    deliveries: receiver.deliveries,
    openDeliveries: await database.openDeliveries(),
    health: faults.health,
    submitted: people.submitted,
    asked: people.asked,
    seen: people.seen,
    calls: counter.calls,
    faults: faults.done,
    runs: await readRuns(database),
    transitions: await database.transitions(),
    slots: await database.slots(),
    ...(deploys === undefined ? {} : { rollout: deploys.rollout }),
  }
}

/** Returns the variables that pass the options of the test to its processes. */
function describeOptions({
  seed,
  leaseMs = DEFAULT_LEASE_MS,
  maxRunning = DEFAULT_MAX_RUNNING,
  maxRetained = ALL_RETAINED,
  environment,
}: ChaosOptions): Readonly<Record<string, string>> {
  return {
    CHAOS_SEED: String(seed),
    CHAOS_LEASE_MS: String(leaseMs),
    CHAOS_MAX_RUNNING: String(maxRunning),
    CHAOS_MAX_RETAINED: String(maxRetained),
    ...environment,
  }
}

/** Starts Postgres, unless the test has a server, and the proxy. */
async function startPostgres(
  { server: given, deploys, isSynchronous }: ChaosOptions,
  stack: AsyncDisposableStack,
): Promise<ChaosPostgres> {
  const server = given ?? stack.use(await failoverServer())
  if (given === undefined && deploys === undefined) await server.addStandby()
  if (isSynchronous) await server.replicateSynchronously()
  return { server, proxy: stack.use(await tcpProxy(server.url)) }
}

function resolvePlan<T>(plan: AfterPrepare<T>): T {
  // NOTE: no plan is a function.
  return typeof plan === 'function' ? (plan as () => T)() : plan
}

/** Parts of the system under test. */
interface Tested {
  readonly options: ChaosOptions
  readonly people: People
  readonly faults: Faults
  readonly database: ChaosDatabase
  readonly deploys: Deploys | undefined
  readonly counter: Counter
  readonly receiver: Receiver
  readonly fleet: Fleet
  readonly nats: ChaosNats | undefined
}

/** A test in progress. */
interface Life extends Tested {
  readonly limitMs: number
  readonly runs: readonly PlannedRun[]
  readonly planned: Iterable<PlannedFault>
  readonly onProblem: (problem: string) => void
  readonly startedAt: number
  /** Aborts at the end of the test. */
  readonly over: AbortController
}

/** Resolves when all runs have ended and all readers have seen it, or at the time limit. Returns whether all have ended. */
async function live(life: Life): Promise<boolean> {
  const { options, limitMs, runs, people, database, deploys, counter } = life
  const { onProblem, startedAt, over } = life
  const { signal } = options
  const calm = new AbortController()
  const hurting = hurt(life, calm.signal)
  const deciding = people.decideReviews()
  let isSubmitted = false
  const submitting = people.submitAll(runs).then(
    () => {
      isSubmitted = true
      counter.release()
    },
    (error: unknown) => {
      onProblem(`Could not submit: ${String(error)}`)
    },
  )
  const isLate = (): boolean => performance.now() - startedAt > limitMs || signal.aborted
  let saidAt = performance.now()
  const untilEnded = async (): Promise<void> => {
    for (;;) {
      const lookedAt = performance.now()
      const states = await database.states()
      const pauseMs = (performance.now() - lookedAt) * LOOK_PAUSE
      const all = [...states.values()].reduce((sum, count) => sum + count, 0)
      const ended = states.get('ended') ?? 0
      const unended = all - ended
      if (isLate() || (isSubmitted && unended === 0 && !people.hasFollowUps)) return
      if (performance.now() - saidAt > 10_000) {
        saidAt = performance.now()
        const { length } = life.faults.done
        options.say(`${ended} of ${all} submitted runs have ended; ${length} faults`)
      }
      await sleep(Math.min(Math.max(LOOK_MS, pauseMs), MAX_LOOK_MS))
    }
  }
  if (deploys !== undefined) {
    await deploys.rollAll(isLate)
    while (!isSubmitted && !isLate()) await sleep(LOOK_MS)
    calm.abort()
    await hurting
    await deploys.settle(isLate)
  }
  await untilEnded()
  calm.abort()
  await hurting
  // The last fault may have been a failover that lost ends.
  await untilEnded()
  if (!isLate() && (await useNats(life))) await untilEnded()
  let rest = await findRest(life)
  while (!isLate() && rest !== undefined) {
    await sleep(MAX_LOOK_MS)
    rest = await findRest(life)
  }
  const hasEnded = !isLate()
  if (!hasEnded) {
    over.abort()
    onProblem(await stuckRuns(database, people.submitted.length))
    if (rest !== undefined) onProblem(rest)
  }
  const settled = Promise.all([submitting, people.settled(), people.readersSettled()])
  await Promise.race([settled, sleep(READERS_LIMIT_MS, undefined, { ref: false })])
  over.abort()
  await Promise.all([settled, deciding])
  return hasEnded
}

/** Describes what is left to do after the end of all runs; undefined for nothing. */
async function findRest({ options, database, receiver }: Life): Promise<string | undefined> {
  const { maxRetained } = options
  if (maxRetained === undefined) return undefined
  const ended = (await database.states()).get('ended') ?? 0
  if (ended > maxRetained)
    return `${ended} ended runs are retained, and the limit is ${maxRetained}`
  // A refused notification is sent again after 5 seconds or 5 minutes.
  const tried = new Set(receiver.deliveries.map(({ id }) => id))
  const open = (await database.openDeliveries()).filter((id) => !tried.has(id))
  return open.length === 0 ? undefined : `The webhook has not got ${open.join(', ')}`
}

/** Number of faults that can overlap with several processes: a fault waits for progress since the one that many before it. */
const MAX_OVERLAPPING = 3

/** Interval at which a fault checks whether there was progress, in milliseconds. */
const PROGRESS_LOOK_MS = 50

/** Injects faults one after another; resolves when the last one is restored. */
async function hurt(
  { options, limitMs, planned, faults, onProblem, startedAt, counter }: Life,
  calm: AbortSignal,
): Promise<void> {
  const underWay: Promise<void>[] = []
  const callsBefore: number[] = []
  const maxOverlapping = options.isEmbedded === true ? 1 : MAX_OVERLAPPING
  const untilMs = limitMs * FAULTY_SHARE
  const isOver = (): boolean => calm.aborted || performance.now() - startedAt > untilMs
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: calm }).catch(() => undefined)
  for (const fault of planned) {
    await pause(fault.afterMs)
    const before = callsBefore.at(-maxOverlapping) ?? -1
    const isEarly = (): boolean => counter.calls.length <= before || faults.isBusy
    while (isEarly() && !isOver()) await pause(PROGRESS_LOOK_MS)
    if (isOver()) break
    callsBefore.push(counter.calls.length)
    underWay.push(
      faults.do(fault).catch((error: unknown) => {
        onProblem(`Could not do ${fault.kind}: ${String(error)}`)
      }),
    )
  }
  await Promise.all(underWay)
}

async function addMembers(
  fleet: Fleet,
  { workers, apis, isEmbedded }: ChaosOptions,
  nats: ChaosNats | undefined,
): Promise<void> {
  const roles: readonly (readonly [Role, number])[] =
    isEmbedded === true
      ? [['all', 1]]
      : [
          ['api', apis],
          ['worker', workers],
        ]
  for (const [role, count] of roles) {
    for (let number = 1; number <= count; number += 1) {
      const name = `${role} ${number}`
      const environment = (await nats?.addProcess(name)) ?? {}
      fleet.add(name, { role, port: await freePort(), environment })
    }
  }
}

/**
 * The first process creates the tables. Only then can the triggers be installed, which must happen before any
 * run.
 */
async function startFleet(fleet: Fleet, database: ChaosDatabase): Promise<void> {
  const [first, ...others] = fleet.members
  first?.start()
  await assertReady(first === undefined ? [] : [first])
  await database.takeNotes()
  for (const member of others) member.start()
  await assertReady(others)
}

async function assertReady(members: readonly Member[]): Promise<void> {
  for (const member of members) {
    if (await member.becomesReady(START_LIMIT_MS)) continue
    throw new Error(`${member.name} did not start:\n${member.said}`)
  }
}

/** Stops all processes gracefully. */
async function stopFleet(fleet: Fleet, onProblem: (problem: string) => void): Promise<void> {
  await Promise.all(
    fleet.members.map(async (member) => {
      const end = await member.end('SIGTERM', 9_000)
      if (end?.code !== 0) onProblem(`${member.name} did not stop well at the end\n${member.said}`)
    }),
  )
}
