/** Tests of the code of runs whose request has ensembles as tasks, in the embedded store. */
import { once } from 'node:events'

import { ensemble, task } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import { createRunService, type RunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it, vi } from 'vitest'

import { temporaryDirectory } from './waiting-ensemble.ts'

interface Code {
  /** Description of the nested task; undefined for a build without its ensemble. */
  readonly trip?: string | undefined
  /** Maximum number of turns of its tasks. */
  readonly turns?: number
  /** Whether a third ensemble is registered. */
  readonly hasMore?: boolean
}

/** Starts a process whose model never answers while `isStuck`. */
async function startProcess(
  path: string,
  { trip, turns = 5, hasMore = false }: Code,
  { isStuck = false, buildId }: { readonly isStuck?: boolean; readonly buildId: string },
) {
  const calls: string[] = []
  const logged: object[] = []
  const script = scriptedModel(() => {
    calls.push('answered')
    return 'See the castle'
  })
  const { provider, name } = script
  const stuck: ChatModel = {
    provider,
    name,
    async *stream(_, { signal }) {
      calls.push('begun')
      yield { type: 'text', text: 'C' }
      await once(signal, 'abort')
      throw signal.reason
    },
  }
  const model = isStuck ? stuck : script
  const toEnsemble = (of: string, description: string, maxIterations = 5) =>
    ensemble({ name: of, model, tasks: [task({ name: 'one', description, maxIterations })] })
  const ensembles = [
    toEnsemble('team', 'Work'),
    ...(trip === undefined ? [] : [toEnsemble('trip', trip, turns)]),
    ...(hasMore ? [toEnsemble('more', 'More')] : []),
  ]
  const ignore = (): void => undefined
  const warn = (message: string, fields?: object): void => {
    logged.push({ message, ...fields })
  }
  const runs = createRunService(await sqliteRunStorage(path), ensembles, {
    buildId,
    logger: { debug: ignore, info: ignore, warn, error: warn },
  })
  await runs.start()
  return { runs, calls, logged, close: () => runs.close({ drainTimeoutMs: 0 }) }
}

const V1: Code = { trip: 'Find sights' }

/** Leaves a run with a nested ensemble, whose task has begun, in build v1. */
async function leaveRun(path: string): Promise<string> {
  const old = await startProcess(path, V1, { isStuck: true, buildId: 'v1' })
  const { runId } = await old.runs.submit({ tasks: [{ name: 'plan', ensemble: 'trip' }] })
  await vi.waitFor(() => expect(old.calls).toEqual(['begun']))
  await old.close()
  return runId
}

async function waitForStatus(runs: RunService, runId: string, status: string): Promise<void> {
  await vi.waitFor(async () => {
    expect((await runs.record(runId))?.status).toBe(status)
  })
}

describe('a run whose request has an ensemble as a task', () => {
  it.each([
    ['has another version of it', { trip: 'Find food' }, ['ensembles']],
    ['lacks it', {}, ['ensembles']],
  ] as const)(
    '[RUNS-Z20] [RUNS-Z21] A run whose request has an ensemble as a task waits in a process that %s, and continues in its build',
    async (_, code, differences) => {
      using directory = temporaryDirectory()
      const runId = await leaveRun(directory.path)
      const present = await startProcess(directory.path, code, { buildId: 'v2' })
      await waitForStatus(present.runs, runId, 'WAITING_FOR_BUILD')
      expect(present.calls).toEqual([])
      expect(present.logged).toMatchObject([{ message: 'A run waits for a build', differences }])
      await present.close()
      const old = await startProcess(directory.path, V1, { buildId: 'v1' })
      await waitForStatus(old.runs, runId, 'COMPLETED')
      await old.close()
    },
  )

  it('[RUNS-Z21] A run whose request has an ensemble as a task continues in a build that has another ensemble too', async () => {
    using directory = temporaryDirectory()
    const runId = await leaveRun(directory.path)
    const present = await startProcess(directory.path, { ...V1, hasMore: true }, { buildId: 'v2' })
    await waitForStatus(present.runs, runId, 'COMPLETED')
    expect((await present.runs.record(runId))?.build).toBe('v2')
    await present.close()
  })

  it('[RUNS-Z5] A run whose request has an ensemble as a task is moved only to a build with that ensemble, and is counted with its build', async () => {
    using directory = temporaryDirectory()
    const runId = await leaveRun(directory.path)
    const without = await startProcess(directory.path, {}, { buildId: 'v2' })
    await waitForStatus(without.runs, runId, 'WAITING_FOR_BUILD')
    const { builds } = without.runs
    await expect(builds.migrate(runId, { to: 'v2' })).rejects.toThrow(
      'no build "v2" has ensemble "team" and those of its tasks, trip. Known builds: [v1]',
    )
    const listed = (await builds.list()).map(({ build, ensemble: of, unfinished }) =>
      JSON.stringify([build, of, unfinished]),
    )
    expect(new Set(listed)).toEqual(
      new Set(['["v1","team",{"WAITING_FOR_BUILD":1}]', '["v1","trip",{}]', '["v2","team",{}]']),
    )
    await without.close()
    const other = await startProcess(directory.path, { ...V1, turns: 6 }, { buildId: 'v3' })
    await waitForStatus(other.runs, runId, 'WAITING_FOR_BUILD')
    const preview = await other.runs.builds.migrate(runId, { to: 'v3', preview: true })
    expect(preview.differences.map(({ field }) => field)).toEqual(['ensembles'])
    expect((await other.runs.builds.migrate(runId, { to: 'v3' })).moved).toBe(true)
    await waitForStatus(other.runs, runId, 'COMPLETED')
    await other.close()
  })
})
