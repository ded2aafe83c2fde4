/** A run that kills its process, with real processes of little memory. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { ensemble, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { connectClient } from '../../../tooling/postgres/connect-client.ts'
import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

const PROCESS = fileURLToPath(new URL('fixtures/killed-process.ts', import.meta.url))

const INNOCENT = ['run-1', 'run-2', 'run-3']

/** Six processes start and most of them run out of memory, which takes seconds each on a busy machine. */
const LONG = { timeout: 240_000 }

/** Maximum number of deaths. */
const MAX_DEATHS = 8

interface Place extends AsyncDisposable {
  /** Environment of the process. */
  readonly address: string
  open(): Promise<RunStorage>
  /** Lets time pass for unowned runs. */
  passTime?(): Promise<void>
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async embedded() {
    const directory = temporaryDirectory()
    return {
      address: directory.path,
      open: async () => sqliteRunStorage(directory.path),
      async [Symbol.asyncDispose]() {
        directory[Symbol.dispose]()
      },
    }
  },
  async postgres() {
    const database = await testDatabase()
    const client = await connectClient(database.url)
    return {
      address: database.url,
      open: () => postgresRunStorage({ connectionString: database.url, maxConnections: 4 }),
      async passTime() {
        await client.query(
          `UPDATE tutti.runs SET due_at = due_at - interval '1 second'
           WHERE state = 'ready' AND lost_owners > 1`,
        )
      },
      async [Symbol.asyncDispose]() {
        await client.end()
        await database[Symbol.asyncDispose]()
      },
    }
  },
}

/** Returns the ends of runs that a process has printed, by run. */
type Ends = Map<string, unknown>

/** Runs the process until all of `runIds` have ended, or it dies. */
async function live(
  place: Place,
  ends: Ends,
  runIds: readonly string[],
): Promise<'died' | 'lives'> {
  const child = spawn(
    process.execPath,
    ['--conditions=@tutti/source', '--max-old-space-size=64', PROCESS, place.address],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const ended = Promise.withResolvers<'died' | 'lives'>()
  child.once('exit', () => ended.resolve('died'))
  createInterface(child.stdout).on('line', (line) => {
    if (line === 'ready') return
    const end: unknown = JSON.parse(line)
    if (typeof end === 'object' && end !== null && 'runId' in end) ends.set(String(end.runId), end)
    if (runIds.every((runId) => ends.has(runId))) ended.resolve('lives')
  })
  let passed = Promise.resolve()
  const timer = setInterval(() => {
    passed = passed.then(() => place.passTime?.())
  }, 200)
  try {
    return await ended.promise
  } finally {
    clearInterval(timer)
    child.kill('SIGKILL')
    // A statement of the last interval must end before its connection closes.
    await passed
  }
}

describe.each(Object.keys(PLACES))('a run that kills its process, on the %s store', (kind) => {
  it(
    '[RUNS-X2] [RUNS-L12] A run that kills its process fails alone after a few deaths, and the others complete',
    LONG,
    async () => {
      await using place = await (PLACES[kind] ?? expect.fail())()
      {
        await using storage = await place.open()
        const names = ['hoard', 'work'].map((name) =>
          ensemble({
            name,
            tasks: [task({ name: 'use', description: 'Use' })],
            model: scriptedModel(() => ''),
          }),
        )
        const service = createRunService(storage, names)
        for (const runId of INNOCENT) await service.submit({ runId, ensemble: 'work' })
        await service.submit({ runId: 'run-killer', ensemble: 'hoard' })
      }
      const ends: Ends = new Map()
      let deaths = 0
      while (deaths < MAX_DEATHS) {
        if ((await live(place, ends, [...INNOCENT, 'run-killer'])) === 'lives') break
        deaths += 1
      }
      expect(deaths).toBe(4)
      expect(ends.get('run-killer')).toEqual({
        runId: 'run-killer',
        status: 'FAILED',
        code: 'PROCESS_LOST',
        error: 'The process that executed the run died, or lost its lease, 4 times in a row',
      })
      for (const runId of INNOCENT) expect(ends.get(runId)).toEqual({ runId, status: 'COMPLETED' })
    },
  )
})
