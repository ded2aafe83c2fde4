/**
 * `npm run chaos:schedules`: several processes submit the runs of schedules that have a tick each second, while processes are
 * killed with SIGKILL and, with `--failover`, the database fails over to a standby. Then checks that each tick has exactly one
 * run. Prints statistics and every violation; exits with code 1 if there is one.
 *
 *   node --conditions=@tutti/source chaos/schedules.ts [--schedules 20] [--ticks 50] [--workers 5] [--kills 20] [--seed N]
 *       [--failover] [--store embedded] [--minutes 10]
 *
 * Kills and the failover are spread over the time of the ticks; the seed chooses the killed processes. Loopback only.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { createRunService } from '../../packages/runs/src/index.ts'

import { startFailoverCluster, type FailoverCluster } from '../postgres/failover-cluster.ts'
import { testDatabase } from '../postgres/test-database.ts'
import { runTestProgram, toIntegers, type TestResult } from '../test-kit/test-program.ts'
import { openStore } from './lib/children.ts'
import { draw } from './lib/draw.ts'
import { judgeTicks, makeTicking, readTicks, TICKING, type TickEvidence } from './lib/schedules.ts'

import type { ScheduleRecord, RunStorage } from '../../packages/runs/src/adapter.ts'

const USAGE = `Usage: npm run chaos:schedules -- [options]

  --schedules N  schedules with a tick each second (20)
  --ticks N      ticks of each schedule (50)
  --workers N    processes (5); always 1 with the embedded store
  --kills N      kills of a process (20)
  --seed N       decides which processes are killed (random)
  --failover     the database fails over to an asynchronous standby once
  --store NAME   postgres, or embedded: one process with a SQLite file (postgres)
  --minutes N    time after which the schedules count as stuck (10)
`

const WORKER = fileURLToPath(new URL('fixtures/schedules-worker.ts', import.meta.url))

/** Interval between looks at the schedules, in milliseconds. */
const LOOK_MS = 200

const STORES = ['postgres', 'embedded']

/** Options of the command line. */
interface Asked {
  readonly schedules: number
  readonly ticks: number
  readonly workers: number
  readonly kills: number
  readonly seed: number
  readonly minutes: number
  readonly failover: boolean
  readonly isEmbedded: boolean
}

/** The location of the store, and its servers. */
interface Target extends AsyncDisposable {
  readonly location: string
  readonly cluster?: FailoverCluster
}

/** Processes that submit the runs of ticks. */
class Fleet {
  readonly #location: string
  readonly #living: ChildProcess[] = []
  killed = 0

  constructor(location: string) {
    this.#location = location
  }

  /** Starts a process. Resolves when it submits runs. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, ['--conditions=@tutti/source', WORKER, this.#location], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#living.push(child)
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  }

  /** Kills one process, and starts another one. */
  async replace(part: number): Promise<void> {
    const [child] = this.#living.splice(Math.floor(part * this.#living.length), 1)
    if (child === undefined) return
    this.killed += 1
    await kill(child)
    await this.start()
  }

  /** Kills all processes. */
  async stop(): Promise<void> {
    await Promise.all(this.#living.splice(0).map(kill))
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

process.exit(await runTestProgram({ usage: USAGE, readOptions, run }))

async function run(asked: Asked): Promise<TestResult> {
  await using target = await openTarget(asked)
  const fleet = new Fleet(target.location)
  try {
    return await runSchedules(asked, target, fleet)
  } finally {
    await fleet.stop()
  }
}

async function openTarget({ isEmbedded, failover }: Asked): Promise<Target> {
  if (isEmbedded) {
    const location = mkdtempSync(join(tmpdir(), 'tutti-schedules-'))
    return {
      location,
      async [Symbol.asyncDispose]() {
        rmSync(location, { recursive: true })
      },
    }
  }
  if (!failover) {
    const database = await testDatabase()
    return { location: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
  }
  const cluster = await startFailoverCluster()
  await cluster.addStandby()
  return {
    location: cluster.url,
    cluster,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

async function runSchedules(asked: Asked, target: Target, fleet: Fleet): Promise<TestResult> {
  const { schedules, ticks, workers, kills, seed, isEmbedded, failover } = asked
  const startedAt = performance.now()
  const firsts = await saveSchedules(target.location, schedules)
  await Promise.all(Array.from({ length: isEmbedded ? 1 : workers }, () => fleet.start()))
  const faults = Array.from({ length: kills }, (_, index) => ({
    at: ((index + 1) * ticks) / (kills + 1),
    act: () => fleet.replace(draw('kill', seed, index)),
  }))
  if (target.cluster !== undefined) {
    const { cluster } = target
    faults.push({ at: ticks / 2, act: () => cluster.failOver() })
  }
  for (const { at, act } of faults.toSorted((a, b) => a.at - b.at)) {
    const waitMs = Math.max(...firsts.values()) + at * 1_000 - Date.now()
    if (waitMs > 0) await sleep(waitMs)
    await act()
  }
  const until = performance.now() + asked.minutes * 60_000
  const evidence = await collect(asked, { firsts, location: target.location, fleet, until })
  const violations = evidence.flatMap(judgeTicks)
  const metrics = {
    schedules,
    ticks: evidence.reduce((sum, { first, last }) => sum + (last - first) / 1_000 + 1, 0),
    runs: evidence.reduce((sum, { runs }) => sum + runs.length, 0),
    'processes killed': fleet.killed,
    failovers: failover ? 1 : 0,
    seconds: ((performance.now() - startedAt) / 1_000).toFixed(1),
  }
  for (const [what, value] of Object.entries(metrics)) console.log(`${what.padEnd(42)}${value}`)
  const more = `${failover ? ' --failover' : ''}${isEmbedded ? ' --store embedded' : ''}`
  return {
    violations,
    repeat: `--seed ${seed} --schedules ${schedules} --ticks ${ticks} --kills ${kills} --workers ${workers}${more}`,
  }
}

/** Saves the schedules. Returns the first tick of each. */
async function saveSchedules(
  location: string,
  count: number,
): Promise<ReadonlyMap<string, number>> {
  await using storage = await openStore(location)
  const service = createRunService(storage, [makeTicking()])
  const firsts = new Map<string, number>()
  for (let index = 1; index <= count; index += 1) {
    const definition = {
      cron: '* * * * * *',
      catchUp: 'all',
      jitterMs: 100,
      run: { ensemble: TICKING },
    } as const
    const { name, nextTick = 0 } = await service.schedules.add({
      name: `schedule-${index}`,
      definition,
    })
    firsts.set(name, nextTick)
  }
  return firsts
}

interface Collecting {
  readonly firsts: ReadonlyMap<string, number>
  readonly location: string
  readonly fleet: Fleet
  /** Time at which the schedules count as stuck, by `performance.now`. */
  readonly until: number
}

/** Waits until every schedule has had its ticks, stops the processes, and reads the runs. */
async function collect(
  { ticks, minutes, seed, isEmbedded }: Asked,
  { firsts, location, fleet, until }: Collecting,
): Promise<readonly TickEvidence[]> {
  // Only one process can open an embedded store.
  if (isEmbedded) {
    await sleep(Math.max(...firsts.values()) + (ticks + 2) * 1_000 - Date.now())
    await fleet.stop()
  }
  await using storage = await openStore(location)
  const isDone = ({ name, lastRun }: ScheduleRecord): boolean =>
    (lastRun?.tick ?? 0) >= (firsts.get(name) ?? 0) + (ticks - 1) * 1_000
  for (;;) {
    const list = await readSchedules(storage)
    if (list.length === firsts.size && list.every(isDone)) break
    if (isEmbedded || performance.now() > until) {
      const late = list.filter((one) => !isDone(one)).map(({ name }) => name)
      throw new Error(
        `After ${minutes} minutes ${late.join(', ')} had fewer than ${ticks} ticks; again with --seed ${seed}`,
      )
    }
    await sleep(LOOK_MS)
  }
  await fleet.stop()
  const evidence: TickEvidence[] = []
  for (const { name, lastRun } of await storage.schedules.list()) {
    const runs = await readTicks(storage, name)
    evidence.push({ name, first: firsts.get(name) ?? 0, last: lastRun?.tick ?? 0, runs })
  }
  return evidence
}

/** Returns the schedules; none while the database fails over. */
async function readSchedules(storage: RunStorage): Promise<readonly ScheduleRecord[]> {
  return storage.schedules.list().catch(() => [])
}

function readOptions(): Asked {
  const { values } = parseArgs({
    options: {
      schedules: { type: 'string', default: '20' },
      ticks: { type: 'string', default: '50' },
      workers: { type: 'string', default: '5' },
      kills: { type: 'string', default: '20' },
      seed: { type: 'string', default: String(randomInt(1_000_000)) },
      minutes: { type: 'string', default: '10' },
      failover: { type: 'boolean', default: false },
      store: { type: 'string', default: 'postgres' },
    },
  })
  const { schedules, ticks, workers, minutes, kills, seed, failover, store } = values
  if (!STORES.includes(store)) {
    throw new RangeError(`Cannot use --store: got "${store}", not one of ${STORES.join(', ')}`)
  }
  const counts = toIntegers({ schedules, ticks, workers, minutes }, 1)
  const isEmbedded = store === 'embedded'
  return { ...counts, ...toIntegers({ kills, seed }, 0), failover, isEmbedded }
}
