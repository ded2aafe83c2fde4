import { expect, it } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import { started, token } from '../../../testing/support/event-fixtures.ts'
import { ownedRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { recordStatements } from '../testing/record-statements.ts'

const database = ownDatabase()

it('[RUNS-D8] Pages of events that are read together share one statement, and each has its own bounds', async () => {
  await using storage = await postgresRunStorage({ connectionString: database.url })
  const owners = [await ownedRun(storage, 'run-a'), await ownedRun(storage, 'run-b')]
  for (const owner of owners) await owner.commit([started, token(owner.runId)])
  const { countTrips, stop } = recordStatements()
  const pages = await Promise.all(
    [
      { runId: 'run-a', from: 0, limit: 10 },
      { runId: 'run-b', from: 1, limit: 1 },
      { runId: 'run-unknown', from: 0, limit: 10 },
      { runId: 'run-b', from: 3, limit: 10 },
      { runId: 'run-b', from: 0, limit: 10, types: ['run_queued', 'token'] as const },
      { runId: 'run-a', from: 0, limit: 10, maxBytes: 1 },
    ].map((query) => storage.events.read({ maxBytes: 16_000, ...query })),
  )
  stop()
  expect(countTrips()).toBe(1)
  expect(
    pages.map(({ events, lastSeq }) => [events.map(({ runId, seq }) => [runId, seq]), lastSeq]),
  ).toEqual([
    [
      [
        ['run-a', 0],
        ['run-a', 1],
        ['run-a', 2],
      ],
      2,
    ],
    [[['run-b', 1]], 2],
    [[], undefined],
    [[], 2],
    [
      [
        ['run-b', 0],
        ['run-b', 2],
      ],
      2,
    ],
    [[['run-a', 0]], 2],
  ])
})
