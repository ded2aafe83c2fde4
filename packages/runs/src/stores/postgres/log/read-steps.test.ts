import { expect, it } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import { step, token } from '../../../testing/support/event-fixtures.ts'
import { ownedRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { recordStatements } from '../testing/record-statements.ts'

const database = ownDatabase()

const LIMIT = { maxBytes: 1_000_000 }

it('StepReader reads the small steps of many runs with one statement, and those of others alone', async () => {
  await using storage = await postgresRunStorage({ connectionString: database.url })
  const runIds = Array.from({ length: 10 }, (_, n) => `run-${n}`)
  for (const runId of runIds) {
    const owner = await ownedRun(storage, runId)
    await owner.commit([token('x')], { steps: [step(1), step(2)] })
  }
  await ownedRun(storage, 'run-without')
  const large = await ownedRun(storage, 'run-large')
  await large.commit([token('x')], { steps: [step(1)] })
  await database.client.query(
    `UPDATE tutti.steps SET bytes = 100000 WHERE run = (SELECT id FROM tutti.runs WHERE run_id = 'run-large')`,
  )
  const recorded = recordStatements()
  const small = await Promise.all(
    [...runIds, 'run-without'].map((runId) => storage.runs.steps(runId, LIMIT)),
  )
  recorded.stop()
  expect(small).toEqual([...runIds.map(() => [step(1), step(2)]), []])
  expect(recorded.countTrips()).toBe(1)
  expect(await storage.runs.steps('run-large', LIMIT)).toEqual([step(1)])
  await expect(storage.runs.steps('run-large', { maxBytes: 70_000 })).rejects.toThrow(
    /70000|70,000/,
  )
})

it('StepReader reads the steps of other runs when those of one cannot be read', async () => {
  await using storage = await postgresRunStorage({ connectionString: database.url })
  const owners = [await ownedRun(storage, 'run-good'), await ownedRun(storage, 'run-bad')]
  for (const owner of owners) await owner.commit([token('x')], { steps: [step(1)] })
  await database.client.query(
    `UPDATE tutti.steps SET data = '{' WHERE run = (SELECT id FROM tutti.runs WHERE run_id = 'run-bad')`,
  )
  const [good, bad] = await Promise.allSettled([
    storage.runs.steps('run-good', LIMIT),
    storage.runs.steps('run-bad', LIMIT),
  ])
  expect(good).toEqual({ status: 'fulfilled', value: [step(1)] })
  expect(bad.status).toBe('rejected')
})
