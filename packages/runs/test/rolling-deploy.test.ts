/** Three rolling deploys over Postgres while runs are in flight: none is lost, repeated, or continued by wrong code. */
import { setTimeout as sleep } from 'node:timers/promises'

import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { createRunService, type RunService } from '@tutti/runs'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { expect, it, vi } from 'vitest'

import { ownDatabase } from './own-database.ts'

const database = ownDatabase()

/** Names and versions of the tasks in each build: v2 has another last task, and v3 renames one. */
const BUILDS = {
  v1: { a: '1', b: '1', c: '1' },
  v2: { a: '1', b: '1', c: '2' },
  v3: { a: '1', renamed: '1', c: '2' },
} as const

type Build = keyof typeof BUILDS

interface Call {
  readonly build: Build
  readonly runId: string
  readonly taskName: string
}

const calls: Call[] = []

function createTeam(build: Build): Ensemble {
  const tasks = Object.entries(BUILDS[build]).map(([name, version]) =>
    task({
      name,
      description: `Do ${name}`,
      version,
      async handler({ runId, taskName }) {
        calls.push({ build, runId, taskName })
        await sleep(5 + Math.random() * 60)
        return 'done'
      },
    }),
  )
  return ensemble({ name: 'band', tasks, workflow: 'SEQUENTIAL' })
}

async function startProcess(build: Build): Promise<RunService> {
  const storage = await postgresRunStorage({
    connectionString: database.url,
    schema: 'deploys',
    maxConnections: 6,
  })
  const runs = createRunService(storage, [createTeam(build)], {
    buildId: build,
    maxConcurrentRuns: 8,
    leaseMs: 1_000,
    pollMs: 100,
  })
  await runs.start()
  return runs
}

async function submit(runs: RunService, count: number): Promise<readonly string[]> {
  const made = await Promise.all(Array.from({ length: count }, () => runs.submit({})))
  return made.map(({ runId }) => runId)
}

/** Replaces a process, and submits runs before and during the replacement. */
async function deploy(old: RunService, build: Build, runIds: string[]): Promise<RunService> {
  runIds.push(...(await submit(old, 10)))
  await sleep(50 + Math.random() * 100)
  const present = await startProcess(build)
  runIds.push(...(await submit(present, 10)))
  await old.close({ drainTimeoutMs: 5_000 })
  return present
}

it('[RUNS-Z2] [RUNS-Z5] [RUNS-Z7] A fleet loses, repeats and confuses no run over three rolling deploys', async () => {
  const runIds: string[] = []
  let present = await startProcess('v1')
  for (const build of ['v2', 'v3', 'v1'] as const) present = await deploy(present, build, runIds)
  // Runs of all builds end, because each has a process again.
  const others = [await startProcess('v2'), await startProcess('v3')]
  const readStatuses = () =>
    Promise.all(runIds.map(async (runId) => (await present.record(runId))?.status))
  await vi.waitFor(
    async () => expect(new Set(await readStatuses())).toEqual(new Set(['COMPLETED'])),
    {
      timeout: 20_000,
      interval: 200,
    },
  )
  for (const runId of runIds) {
    const made = calls.filter((call) => call.runId === runId)
    // Each task is called once, in the order of the code, and only by a build that has it. A run continues with another
    // list of tasks while the renamed one has not begun.
    const names = made.map(({ taskName }) => taskName)
    expect([Object.keys(BUILDS.v1), Object.keys(BUILDS.v3)]).toContainEqual(names)
    for (const { build, taskName } of made) expect(BUILDS[build]).toHaveProperty(taskName)
    const tasks = (await present.get(runId))?.tasks ?? []
    const done = tasks.filter(({ status }) => status === 'COMPLETED').map(({ name }) => name)
    expect(done.toSorted()).toEqual(names.toSorted())
    for (const { name, status } of tasks) {
      if (!names.includes(name)) expect(status).toBe('SKIPPED')
    }
  }
  await Promise.all([present, ...others].map((runs) => runs.close({ drainTimeoutMs: 1_000 })))
}, 60_000)
