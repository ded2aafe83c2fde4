import { silentLogger } from '@tutti/core/internal'
import { expect, it } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import { queued } from '../../../testing/support/event-fixtures.ts'
import { CLAIMANT, claimDue, createRun, newRun } from '../../../testing/support/run-fixtures.ts'
import { Database } from '../database/database.ts'
import { postgresRunStorage } from '../index.ts'
import { recordStatements } from '../testing/record-statements.ts'

import type { RunStorage } from '../../../ports/run-storage.ts'

const database = ownDatabase()

const RUNS = Array.from({ length: 20 }, (_, index) => `run-${String(index).padStart(2, '0')}`)

it('[RUNS-D8] Runs that are submitted together are stored by one statement, in the order of submission', async () => {
  await using storage = await openStorage('together')
  await createRun(storage, 'run-first')
  const { countTrips, stop } = recordStatements()
  const created = await Promise.all(RUNS.map((runId) => create(storage, runId)))
  stop()
  expect(created.map(({ kind }) => kind)).toEqual(RUNS.map(() => 'created'))
  expect(countTrips()).toBe(1)
  const claimed = await claimDue(storage, { wanted: 100 })
  expect(claimed.map(({ run }) => run.runId)).toEqual(['run-first', ...RUNS])
})

it('[RUNS-D8] Runs that are submitted together count the unfinished runs once', async () => {
  await using storage = await openStorage('counted')
  const { statements, countTrips, stop } = recordStatements()
  await Promise.all(RUNS.map((runId) => create(storage, runId)))
  stop()
  expect(statements.filter(({ text }) => text.startsWith('BEGIN'))).toHaveLength(1)
  // A transaction of three, and the statement that stores all runs.
  expect(countTrips()).toBe(4)
})

it('Runs that are submitted together never exceed the limit', async () => {
  await using storage = await openStorage('limited')
  await createRun(storage, 'run-first')
  const results = await Promise.allSettled(
    RUNS.map((runId) => create(storage, runId, { maxUnfinishedRuns: 8 })),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
  expect((await storage.queue.load()).queued).toBe(8)
})

it.for([
  ['waits', 'planned_waiting', undefined],
  ['is claimed at once', 'planned_claimed', { ...CLAIMANT, maxConcurrentRuns: 99 }],
] as const)(
  '[RUNS-D8] The statement that creates a run that %s is planned once, for all values',
  async ([, schema, claimant]) => {
    await using storage = await openStorage(schema)
    const { statements, stop } = recordStatements()
    const run = newRun('run-a')
    await storage.runs.create(run, {
      firstEvent: queued(run),
      maxUnfinishedRuns: 99,
      ...(claimant === undefined ? {} : { claimant }),
    })
    stop()
    const { text = '', values } = statements.find(({ text }) => text.includes('new_run AS')) ?? {}
    const requests = new Database({
      connectionString: database.url,
      schema,
      maxConnections: 1,
      preparedStatements: true,
      isPooled: false,
      logger: silentLogger,
      onLost: () => undefined,
    })
    // The run exists, so the statement does not store it.
    for (let n = 0; n < 8; n += 1) await requests.query(text, values)
    const plans = await requests.query(
      'SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1',
      [text],
    )
    await requests.close()
    // The server plans for the values of five calls before it compares the costs.
    expect(plans).toEqual([{ generic_plans: '3', custom_plans: '5' }])
  },
)

function openStorage(schema: string): Promise<RunStorage> {
  return postgresRunStorage({ connectionString: database.url, schema })
}

function create(storage: RunStorage, runId: string, { maxUnfinishedRuns = 1000 } = {}) {
  const run = newRun(runId)
  return storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns })
}
