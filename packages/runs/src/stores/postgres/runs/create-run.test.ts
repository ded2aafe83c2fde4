import { expect, it } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import { queued } from '../../../testing/support/event-fixtures.ts'
import { claimDue, createRun, newRun } from '../../../testing/support/run-fixtures.ts'
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

function openStorage(schema: string): Promise<RunStorage> {
  return postgresRunStorage({ connectionString: database.url, schema })
}

function create(storage: RunStorage, runId: string, { maxUnfinishedRuns = 1000 } = {}) {
  const run = newRun(runId)
  return storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns })
}
