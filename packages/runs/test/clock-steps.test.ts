/** Steps of the system clock while processes live. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { silentLogger } from '@tutti/core/internal'
import { ensemble, task } from '@tutti/ensemble'
import { createRunService } from '@tutti/runs'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { query } from '../../../tooling/postgres/cluster.ts'
import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { createSteadyClock } from '../src/domain/steady-clock.ts'
import { CLOCK_SQL } from '../src/stores/postgres/database/database-clock.ts'
import { HOUSEKEEPING_MS } from '../src/lifecycle/delete-old-runs.ts'
import { openRuns, temporaryDirectory, waitingEnsemble } from './waiting-ensemble.ts'

const WORKER = fileURLToPath(new URL('fixtures/skewed-worker.ts', import.meta.url))
const PROCESS = fileURLToPath(new URL('fixtures/stepped-process.ts', import.meta.url))
const SUBMITTER = fileURLToPath(new URL('fixtures/skewed-submitter.ts', import.meta.url))
const CLOCK = new URL('../../../tooling/test-kit/step-clock.ts', import.meta.url).href

const HOUR_MS = 3_600_000

/** An hour back, and then to an hour ahead. */
const STEPS_MS = [-HOUR_MS, 2 * HOUR_MS]

/** The durations that the process lets pass. */
const DURATIONS = [
  'age of an external event',
  'lease',
  'maxDurationMs of a run',
  'maxQueueMs',
  'rate limit',
  'review',
  'review of a parked run',
  'sleep of a parked run',
  'startAfterMs',
  'tick of a schedule',
  'timeoutMs of a task',
  'webhook retry',
]

/** Lengths of the durations, in milliseconds: a longer one if the shorter one passed before the clock was set. */
const LENGTHS_MS = [1_500, 20_000] as const

/** Timers of Node and whole milliseconds of the store, in milliseconds. */
const ROUNDING_MS = 20

interface Measured {
  readonly step: number
  readonly name: string
  readonly tookMs: number
  readonly isSet: boolean
}

/** Starts a worker; resolves when it is ready. */
async function startWorker(url: string, differenceMs: number, stepMs: number) {
  const { child, lines } = startProcess(WORKER, [url, String(differenceMs), String(stepMs)])
  const seen: string[] = []
  const reading = (async () => {
    for await (const line of lines) seen.push(line)
  })()
  await until('the worker to be ready', () => seen.includes('ready'))
  return {
    /** Ids of the runs that began here. */
    get begun() {
      return seen.filter((line) => line !== 'ready')
    },
    async kill() {
      child.kill('SIGKILL')
      await reading
    },
  }
}

function startProcess(path: string, words: readonly string[]) {
  const child = spawn(
    process.execPath,
    ['--conditions=@tutti/source', `--import=${CLOCK}`, path, ...words],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  return { child, lines: createInterface(child.stdout) }
}

async function measure(lengthMs: number): Promise<readonly Measured[]> {
  using directory = temporaryDirectory()
  const { child, lines } = startProcess(PROCESS, [
    directory.path,
    String(lengthMs),
    ...STEPS_MS.map(String),
  ])
  try {
    const measured: Measured[] = []
    for await (const line of lines) {
      // NOTE: the process prints only these.
      measured.push(JSON.parse(line) as Measured)
    }
    return measured
  } finally {
    child.kill('SIGKILL')
  }
}

it('A process logs once that its clock was set', async () => {
  using directory = temporaryDirectory()
  const clock = fakeClock()
  let stepMs = 0
  const steady = createSteadyClock({ ...clock, now: () => clock.now() + stepMs }, clock.elapsed)
  const warnings: unknown[] = []
  const service = await openRuns(directory.path, [waitingEnsemble().ensemble], {
    clock: steady,
    logger: {
      ...silentLogger,
      warn: (...line) => {
        warnings.push(line)
      },
    },
  })
  await clock.advance(HOUSEKEEPING_MS)
  stepMs -= HOUR_MS
  await clock.advance(3 * HOUSEKEEPING_MS)
  expect(warnings).toEqual([
    [
      'The system clock was set; runs ignore it until this process restarts',
      { stepMs: -HOUR_MS, ignoredMs: -HOUR_MS },
    ],
  ])
  await service.close({ drainTimeoutMs: 0 })
})

it(
  '[RUNS-TI1] A step of an hour moves no deadline, delay, lease, limit or retry that waits on the embedded store',
  { timeout: 180_000 },
  async () => {
    let lengthMs: number = LENGTHS_MS[0]
    let measured = await measure(lengthMs)
    if (measured.some(({ isSet }) => !isSet)) {
      lengthMs = LENGTHS_MS[1]
      measured = await measure(lengthMs)
    }
    for (const step of STEPS_MS) {
      expect(
        measured
          .filter((one) => one.step === step)
          .map(({ name }) => name)
          .toSorted(),
      ).toEqual(DURATIONS)
    }
    for (const { name, tookMs, isSet } of measured) {
      expect(isSet).toBe(true)
      expect(tookMs, name).toBeGreaterThan(lengthMs - ROUNDING_MS)
      expect(tookMs, name).toBeLessThan(HOUR_MS / 6)
    }
  },
)

it(
  '[RUNS-L2] [RUNS-L7] Leases on Postgres do not depend on the clocks of the processes, nor on their steps',
  { timeout: 180_000 },
  async () => {
    await using database = await testDatabase()
    const storage = await postgresRunStorage({ connectionString: database.url, maxConnections: 3 })
    const work = task({ name: 'work', description: 'Work', handler: () => '' })
    const api = createRunService(storage, [ensemble({ name: 'band', tasks: [work] })], {
      executes: false,
      resumePolicy: 'latest',
    })
    await api.start()
    const ahead = await startWorker(database.url, 0, HOUR_MS)
    await api.submit({ runId: 'short-1' })
    await until('the run to begin', () => ahead.begun.length === 1)
    const behind = await startWorker(database.url, -HOUR_MS, -HOUR_MS)
    await until(
      'the end of the run',
      async () => (await api.record('short-1'))?.status === 'COMPLETED',
    )
    expect([ahead.begun, behind.begun]).toEqual([['short-1'], []])
    await api.submit({ runId: 'endless-1' })
    const workers = [ahead, behind]
    const hasIt = ({ begun }: typeof ahead): boolean => begun.includes('endless-1')
    await until('the run to begin', () => workers.some(hasIt))
    await workers.find(hasIt)?.kill()
    await until('the other worker to continue it', () => workers.every(hasIt))
    await Promise.all(workers.map((worker) => worker.kill()))
    await api.close({ drainTimeoutMs: 0 })
  },
)

it(
  '[RUNS-TI4] Start times and deadlines on Postgres do not depend on the clocks of the processes that compute them',
  { timeout: 180_000 },
  async () => {
    await using database = await testDatabase()
    const readClock = async (): Promise<number> => {
      const [row] = await query(database.url, CLOCK_SQL)
      return Number(row?.['now'])
    }
    const names = ['creation', 'maxQueueMs', 'review', 'startAfterMs']
    await Promise.all(
      [HOUR_MS, -HOUR_MS].map(async (differenceMs) => {
        const before = await readClock()
        const delayMs = 10 * HOUR_MS
        const words = [database.url, differenceMs, delayMs].map(String)
        const { lines } = startProcess(SUBMITTER, words)
        const seen: string[] = []
        for await (const line of lines) {
          // NOTE: the process prints only these.
          const { what, instant } = JSON.parse(line) as { what: string; instant: number }
          seen.push(what)
          expect(instant - delayMs, what).toBeGreaterThan(before - HOUR_MS / 4)
          expect(instant - delayMs, what).toBeLessThan((await readClock()) + HOUR_MS / 4)
        }
        const expected = names.flatMap((name) => [`${name} after start`, `${name} after step`])
        expect(seen.toSorted()).toEqual(expected)
      }),
    )
  },
)
