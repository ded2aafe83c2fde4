/** New runs and their builds over Postgres, with a real process for each build; one is killed. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { ensemble, task } from '@tutti/ensemble'
import { createRunService, type RunService } from '@tutti/runs'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { ownDatabase } from './own-database.ts'

const PROCESS = fileURLToPath(new URL('fixtures/build-process.ts', import.meta.url))

/** A process notices the end of a build after its lease of 3 s and its check of 2 s; on a busy machine later. */
const PATIENT = { timeout: 30_000, interval: 100 }

/** A process that starts needs seconds on a busy machine. */
const LONG = { timeout: 120_000 }

const database = ownDatabase()
const processes = new Set<ChildProcess>()
let api: RunService
/** A schema for each attempt, because the ids of runs are fixed. */
let schema = ''

/** Starts a process of a build, and resolves when the build lives. */
async function startBuild(build: string): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    ['--conditions=@tutti/source', PROCESS, database.url, schema, build],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  processes.add(child)
  const [line] = await once(child.stdout, 'data')
  expect(String(line)).toBe('ready\n')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** Submits runs and waits for their ends. Returns the number of runs that each build has executed. */
async function execute(runIds: readonly string[]): Promise<Readonly<Record<string, number>>> {
  for (const runId of runIds) await api.submit({ runId })
  return countBuilds(runIds)
}

async function countBuilds(runIds: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  await vi.waitFor(async () => {
    const found = await Promise.all(runIds.map((runId) => api.get(runId)))
    expect(new Set(found.map((run) => run?.run.status))).toEqual(new Set(['COMPLETED']))
    for (const build of Object.keys(counts)) delete counts[build]
    for (const run of found) {
      const output = run?.tasks[0]?.output ?? ''
      // The build of the record is the one that executed the run.
      expect(run?.run.build).toBe(output)
      counts[output] = (counts[output] ?? 0) + 1
    }
  }, PATIENT)
  return counts
}

function runIdsOf(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${name}-${n}`)
}

/** Waits until the API process knows that a build lives, or no longer does. */
async function untilChosen(build: string, isLiving = true): Promise<void> {
  let n = 0
  await vi.waitFor(async () => {
    n += 1
    const { build: chosen } = await api.submit({ runId: `probe-${build}-${String(isLiving)}-${n}` })
    expect(chosen === build).toBe(isLiving)
  }, PATIENT)
}

beforeEach(async () => {
  schema = `shares_${crypto.randomUUID().slice(0, 8)}`
  api = createRunService(
    await postgresRunStorage({ connectionString: database.url, schema, maxConnections: 4 }),
    [
      ensemble({
        name: 'band',
        tasks: [task({ name: 'play', description: 'Play', handler: String })],
      }),
    ],
    { buildId: 'api', executes: false, maxQueuedRuns: 2_000, leaseMs: 1_000, pollMs: 100 },
  )
  await api.start()
})

afterEach(async () => {
  for (const child of processes) child.kill('SIGKILL')
  processes.clear()
  await api.close({ drainTimeoutMs: 1_000 })
})

describe('new runs', () => {
  it(
    '[RUNS-Z13] [RUNS-Z15] [RUNS-Z16] New runs go to the newest build, by its share, and to an older one when it was killed',
    LONG,
    async () => {
      const [, present] = [await startBuild('v1'), await startBuild('v2')]
      await untilChosen('v2')
      expect(await execute(runIdsOf('all', 40))).toEqual({ v2: 40 })

      await api.builds.setShare('v2', 25)
      // The ids are fixed, so the number is exact.
      expect(await execute(runIdsOf('ramped', 400))).toEqual({ v1: 295, v2: 105 })

      await api.builds.setShare('v2', 0)
      expect(await execute(runIdsOf('none', 20))).toEqual({ v1: 20 })
      const { build } = await api.submit({ runId: 'canary', build: 'v2' })
      expect([build, await countBuilds(['canary'])]).toEqual(['v2', { v2: 1 }])

      await api.builds.setShare('v2', 100)
      await kill(present)
      const stranded = runIdsOf('stranded', 20)
      for (const runId of stranded) expect((await api.submit({ runId })).build).toBe('v2')
      const submitted = { runId: 'fixed', build: 'v2', idempotencyKey: 'fixed' }
      const fixed = await api.submit(submitted)
      expect(fixed.build).toBe('v2')
      expect(await countBuilds(stranded)).toEqual({ v1: 20 })

      await vi.waitFor(async () => {
        expect((await api.record('fixed'))?.status).toBe('WAITING_FOR_BUILD')
      }, PATIENT)
      await untilChosen('v2', false)
      await expect(api.submit({ build: 'v2' })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        message:
          'Cannot submit the run: no living build "v2" has ensemble "band". Living builds: [v1]',
      })
      // The repetition of a submission gets its run, although the build does not live.
      expect((await api.submit(submitted)).status).toBe('WAITING_FOR_BUILD')
      await startBuild('v2')
      expect(await countBuilds(['fixed'])).toEqual({ v2: 1 })
      const builds = await api.builds.list()
      expect(builds.map((known) => [known.build, known.processes, known.unfinished])).toEqual([
        ['v2', 1, {}],
        ['v1', 1, {}],
      ])
    },
  )
})
