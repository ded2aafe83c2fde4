/** Runs whose stored steps cannot be read or are too large. They do not affect other runs. */
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'

import { createRunService, sqliteRunStorage } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { postgresRunStorage } from '@tutti/runs/postgres'
import { describe, expect, it } from 'vitest'

import { connectClient } from '../../../tooling/postgres/connect-client.ts'
import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { allEvents, waitingEnsemble, startRuns, temporaryDirectory } from './waiting-ensemble.ts'

const BROKEN = '{"kind":"model_turn","reply":{"text":"cut o'

const HUGE = JSON.stringify({ kind: 'model_turn', reply: { text: 'x'.repeat(2_000_000) } })

interface Place extends AsyncDisposable {
  open(): Promise<RunStorage>
  /** Adds an invalid or a large step to the run, bypassing the store. */
  addStep(runId: string, data: string): Promise<void>
  /** Damages a column of the run, bypassing the store. */
  damage(runId: string, column: string): Promise<void>
}

/** Columns that the embedded store has in a separate table. */
const LARGE: ReadonlySet<string> = new Set(['inputs', 'request'])

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async embedded() {
    const directory = temporaryDirectory()
    return {
      open: async () => sqliteRunStorage(directory.path),
      async addStep(runId, data) {
        const database = new DatabaseSync(join(directory.path, 'runs.sqlite'))
        database
          .prepare(
            'INSERT INTO steps (key, seq, data) SELECT id << 32, 0, ? FROM runs WHERE run_id = ?',
          )
          .run(data, runId)
        database.prepare('UPDATE runs SET epoch = 1, turn = 0 WHERE run_id = ?').run(runId)
        database.close()
      },
      async damage(runId, column) {
        const database = new DatabaseSync(join(directory.path, 'runs.sqlite'))
        const [table, id] = LARGE.has(column) ? ['requests', 'run'] : ['runs', 'id']
        database
          .prepare(
            `UPDATE ${table} SET ${column} = '{"cut'
             WHERE ${id} = (SELECT id FROM runs WHERE run_id = ?)`,
          )
          .run(runId)
        database.close()
      },
      async [Symbol.asyncDispose]() {
        directory[Symbol.dispose]()
      },
    }
  },
  async postgres() {
    const database = await testDatabase()
    const client = await connectClient(database.url)
    return {
      open: () => postgresRunStorage({ connectionString: database.url, maxConnections: 4 }),
      async addStep(runId, data) {
        await client.query(
          'INSERT INTO tutti.steps (run, n, seq, data) SELECT id, 0, 0, $1 FROM tutti.runs WHERE run_id = $2',
          [data, runId],
        )
        await client.query('UPDATE tutti.runs SET epoch = 1, turn = 0 WHERE run_id = $1', [runId])
      },
      async damage(runId, column) {
        await client.query(`UPDATE tutti.runs SET ${column} = '{"cut' WHERE run_id = $1`, [runId])
      },
      async [Symbol.asyncDispose]() {
        await client.end()
        await database[Symbol.asyncDispose]()
      },
    }
  },
}

describe.each(Object.keys(PLACES))('a poisoned run, on the %s store', (kind) => {
  it.each([
    ['that cannot be read', BROKEN, 'RUN_UNREADABLE', /^Cannot read the steps of run run-bad: /],
    ['that are too large', HUGE, 'RUN_TOO_LARGE', /^Run run-bad has 20000\d\d bytes in the store/],
  ])(
    '[RUNS-X2] A poisoned run with steps %s fails alone, and the others complete',
    async (_, data, code, error) => {
      await using place = await (PLACES[kind] ?? expect.fail())()
      const { ensemble, play } = waitingEnsemble()
      play()
      {
        await using storage = await place.open()
        const service = createRunService(storage, [ensemble])
        for (const runId of ['run-bad', 'run-good']) {
          await service.submit({ runId, inputs: { topic: 'Bach' } })
        }
      }
      await place.addStep('run-bad', data)
      const service = await startRuns(await place.open(), [ensemble], {
        maxStoredRunBytes: 1_000_000,
      })
      expect((await allEvents(service, 'run-bad')).at(-1)).toMatchObject({
        type: 'run_result',
        status: 'FAILED',
        code,
        error: expect.stringMatching(error),
      })
      expect((await allEvents(service, 'run-good')).at(-1)).toMatchObject({ status: 'COMPLETED' })
      await service.close({ drainTimeoutMs: 5_000 })
    },
  )

  it.each(['inputs', 'tags', 'request', 'webhooks', 'actor'])(
    '[RUNS-P14] A poisoned run with a damaged column %s fails alone, is listed, and the others complete',
    async (column) => {
      await using place = await (PLACES[kind] ?? expect.fail())()
      const { ensemble, play } = waitingEnsemble()
      play()
      {
        await using storage = await place.open()
        const service = createRunService(storage, [ensemble])
        for (const runId of ['run-bad', 'run-good']) {
          await service.submit({ runId, inputs: { topic: 'Bach' } })
        }
      }
      await place.damage('run-bad', column)
      const service = await startRuns(await place.open(), [ensemble], {})
      expect((await allEvents(service, 'run-bad')).at(-1)).toMatchObject({
        status: 'FAILED',
        code: 'RUN_UNREADABLE',
        error: expect.stringMatching(`^Cannot read the columns of run run-bad: ${column}: `),
      })
      expect((await allEvents(service, 'run-good')).at(-1)).toMatchObject({ status: 'COMPLETED' })
      expect(await service.list({ limit: 9 })).toMatchObject({ total: 2 })
      expect(await service.record('run-bad')).toMatchObject({ status: 'FAILED' })
      await service.close({ drainTimeoutMs: 5_000 })
    },
  )
})
