/**
 * `npm run chaos:children`: executes one run with many added tasks on several processes, and kills the process that executes
 * it again and again with SIGKILL. Each task has one step, which appends a line to a file. Then checks that no task is lost
 * and none is done twice. Prints statistics and every violation; exits with code 1 if there is one.
 *
 *   node --conditions=@tutti/source chaos/children.ts [--children 1000] [--kills 20] [--workers 3] [--seed N]
 *       [--store embedded] [--minutes 5]
 *
 * Each kill follows a number of done tasks, which the seed gives. Loopback only.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { createRunService } from '../../packages/runs/src/index.ts'

import { testDatabase } from '../postgres/test-database.ts'
import { runTestProgram, toIntegers, type TestResult } from '../test-kit/test-program.ts'
import {
  CHILDREN,
  judgeChildren,
  makeChildren,
  openStore,
  readLines,
  type AppendedLine,
  type ChildrenEvidence,
} from './lib/children.ts'
import { draw } from './lib/draw.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const USAGE = `Usage: npm run chaos:children -- [options]

  --children N   tasks that the run adds (1000)
  --kills N      kills of the process that executes the run (20)
  --workers N    processes that execute runs (3); always 1 with the embedded store
  --seed N       decides after how many tasks each kill follows (random)
  --store NAME   postgres, or embedded: one process with a SQLite file (postgres)
  --minutes N    time after which the run counts as stuck (5)
`

const WORKER = fileURLToPath(new URL('fixtures/children-worker.ts', import.meta.url))

const RUN_ID = 'run-1'

/** Interval between looks at the file, in milliseconds. */
const LOOK_MS = 3

const STORES = ['postgres', 'embedded']

/** Options of the command line. */
interface Asked {
  readonly children: number
  readonly kills: number
  readonly workers: number
  readonly seed: number
  readonly isEmbedded: boolean
  readonly minutes: number
}

/** Processes that execute the run, the store that they share, and the file to which its steps append. */
class Fleet {
  readonly location: string
  readonly file: string
  /** Processes that were killed while they executed the run. */
  readonly killed = new Set<number>()
  /** Resolves when a process has recorded the end of the run. */
  readonly ended: Promise<void>
  readonly #living = new Map<number, ChildProcess>()
  readonly #end: () => void

  constructor(location: string, file: string) {
    this.location = location
    this.file = file
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
  }

  /** Starts a process. */
  start(): void {
    const child = spawn(
      process.execPath,
      ['--conditions=@tutti/source', WORKER, this.location, this.file],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    child.stdout.once('data', this.#end)
    if (child.pid !== undefined) this.#living.set(child.pid, child)
  }

  /** Kills the process, and starts another one. */
  async replace(pid: number): Promise<void> {
    const child = this.#living.get(pid)
    if (child === undefined) return
    this.killed.add(pid)
    await this.#kill(child)
    this.#living.delete(pid)
    this.start()
  }

  /** Kills all processes. */
  async stop(): Promise<void> {
    await Promise.all([...this.#living.values()].map((child) => this.#kill(child)))
    this.#living.clear()
  }

  /** Returns the lines that the steps have appended so far. */
  async lines(): Promise<readonly AppendedLine[]> {
    return readLines(await readFile(this.file, 'utf8'))
  }

  async #kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
}

process.exit(await runTestProgram({ usage: USAGE, readOptions, run }))

async function run(asked: Asked): Promise<TestResult> {
  const directory = mkdtempSync(join(tmpdir(), 'tutti-children-'))
  const database = asked.isEmbedded ? undefined : await testDatabase()
  const fleet = new Fleet(database?.url ?? directory, join(directory, 'lines'))
  try {
    return await runChildren(asked, fleet)
  } finally {
    await fleet.stop()
    await database?.[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true })
  }
}

async function runChildren(asked: Asked, fleet: Fleet): Promise<TestResult> {
  const { children, kills, workers, seed, isEmbedded } = asked
  const startedAt = performance.now()
  await writeFile(fleet.file, '')
  await submit(fleet.location, children)
  for (let count = 0; count < (isEmbedded ? 1 : workers); count += 1) fleet.start()
  const deadline = startedAt + asked.minutes * 60_000
  await killOwners(asked, fleet, deadline)
  const isStuck = sleep(deadline - performance.now(), true, { ref: false })
  if ((await Promise.race([fleet.ended, isStuck])) === true) throw stuck(asked)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  // The end is durable, and only one process can open an embedded store.
  await fleet.stop()
  const evidence = await collect(fleet, children)
  const { violations, repeats, takeovers } = judgeChildren(evidence)
  const metrics = {
    tasks: children,
    'processes killed': fleet.killed.size,
    'takeovers (run_resumed)': takeovers,
    'side effects repeated under their key': repeats,
    events: evidence.events.length,
    seconds,
  }
  for (const [what, value] of Object.entries(metrics)) console.log(`${what.padEnd(42)}${value}`)
  const store = isEmbedded ? ' --store embedded' : ''
  return {
    violations,
    repeat: `--seed ${seed} --children ${children} --kills ${kills} --workers ${workers}${store}`,
  }
}

/** Stores the run, which no process executes yet. */
async function submit(location: string, children: number): Promise<void> {
  await using storage = await openStore(location)
  const service = createRunService(storage, [makeChildren(async () => undefined)])
  const inputs = { count: String(children) }
  await service.submit({ runId: RUN_ID, ensemble: CHILDREN, inputs })
}

/** Kills the process that executes the run each time that the next number of tasks is done. */
async function killOwners(asked: Asked, fleet: Fleet, deadline: number): Promise<void> {
  const { children, kills, seed } = asked
  for (let kill = 1; kill <= kills; kill += 1) {
    const part = (kill + draw('kill', seed, kill) * 0.8 - 0.4) / (kills + 1)
    const due = Math.max(1, Math.floor(children * part))
    for (;;) {
      const lines = await fleet.lines()
      const owner = lines.at(-1)?.pid ?? 0
      const done = new Set(lines.map(({ item }) => item)).size
      if (done >= due && !fleet.killed.has(owner)) {
        await fleet.replace(owner)
        break
      }
      if (performance.now() > deadline) throw stuck(asked)
      await sleep(LOOK_MS)
    }
  }
}

function stuck({ minutes, seed }: Asked): Error {
  return new Error(`The run has not ended after ${minutes} minutes; again with --seed ${seed}`)
}

/** Reads all that is known of the run. */
async function collect(fleet: Fleet, count: number): Promise<ChildrenEvidence> {
  await using storage = await openStore(fleet.location)
  const events: LoggedRunEvent[] = []
  for (;;) {
    const query = { runId: RUN_ID, from: events.length, limit: 1_000 }
    const page = await storage.events.read(query)
    if (page.events.length === 0) break
    events.push(...page.events)
  }
  const steps = new Map<string, number>()
  for (const step of await storage.runs.steps(RUN_ID)) {
    if (step.kind !== 'handler_step') continue
    steps.set(step.taskName, (steps.get(step.taskName) ?? 0) + 1)
  }
  return { count, lines: await fleet.lines(), killed: fleet.killed, events, steps }
}

function readOptions(): Asked {
  const { values } = parseArgs({
    options: {
      children: { type: 'string', default: '1000' },
      kills: { type: 'string', default: '20' },
      workers: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(randomInt(1_000_000)) },
      store: { type: 'string', default: 'postgres' },
      minutes: { type: 'string', default: '5' },
    },
  })
  const { children, workers, minutes, kills, seed, store } = values
  const counts = toIntegers({ children, workers, minutes }, 1)
  if (!STORES.includes(store)) {
    throw new RangeError(`Cannot use --store: got "${store}", not one of ${STORES.join(', ')}`)
  }
  return { ...counts, ...toIntegers({ kills, seed }, 0), isEmbedded: store === 'embedded' }
}
