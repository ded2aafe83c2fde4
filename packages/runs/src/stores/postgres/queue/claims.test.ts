/** Positions of claims: runs that are stored before them are found. */
import { afterEach, expect, it, vi } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import { claimDue, createRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'

import type { RunStorage } from '../../../ports/run-storage.ts'

const database = ownDatabase()

afterEach(() => {
  vi.restoreAllMocks()
})

/** Opens a store in which a process has claimed the first of six runs. */
async function openClaimed(schema: string): Promise<RunStorage> {
  const storage = await postgresRunStorage({ connectionString: database.url, schema })
  for (let n = 1; n <= 6; n += 1) await createRun(storage, `a${n}`, { fairnessKey: 'a' })
  expect(await claimOne(storage)).toEqual(['a1'])
  return storage
}

async function claimOne(storage: RunStorage): Promise<readonly string[]> {
  const claimed = await claimDue(storage, { wanted: 1 })
  return claimed.map(({ run }) => run.runId)
}

/** Gives a waiting run a turn before that of claimed ones, as if it had been stored during the claim. */
async function moveAhead(schema: string, runId: string): Promise<void> {
  await database.client.query(`UPDATE "${schema}".runs SET turn = 1 WHERE run_id = $1`, [runId])
}

it('[RUNS-L4] A claim finds a run that was stored before its position after a short time', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(1_000)
  await using storage = await openClaimed('start_over')
  await moveAhead('start_over', 'a5')
  // The process does not know yet.
  expect(await claimOne(storage)).toEqual(['a2'])
  vi.spyOn(performance, 'now').mockReturnValue(1_050)
  expect(await claimOne(storage)).toEqual(['a5'])
  expect(await claimOne(storage)).toEqual(['a3'])
})

it('[RUNS-L4] A claim finds at once a run that its process has stored before the position', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(1_000)
  await using storage = await openClaimed('own_run')
  await moveAhead('own_run', 'a6')
  await createRun(storage, 'b1', { fairnessKey: 'b' })
  expect(await claimOne(storage)).toEqual(['a6'])
  expect(await claimOne(storage)).toEqual(['b1'])
  expect(await claimOne(storage)).toEqual(['a2'])
})
