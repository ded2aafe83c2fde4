import { expect, it } from 'vitest'

import { endedRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { ownDatabase } from '../../../../test/own-database.ts'

const database = ownDatabase()

it('[RUNS-O3] The webhook outbox stores the outcome of a delivery and its reason', async () => {
  await using storage = await postgresRunStorage({ connectionString: database.url })
  await endedRun(storage, 'run-a', { webhooks: ['one', 'two', 'three'] })
  const [one, two, three] = await storage.outbox.claim({ limit: 9, claimMs: 1000 })
  if (one === undefined || two === undefined || three === undefined) expect.fail('too few')
  await storage.outbox.settle(one, { kind: 'done' })
  await storage.outbox.settle(two, { kind: 'given_up', reason: 'it is "gone"' })
  await storage.outbox.settle(three, { kind: 'retry', dueInMs: 1000, reason: 'away' })
  const { rows } = await database.client.query(
    'SELECT outcome, reason FROM tutti.deliveries ORDER BY id',
  )
  expect(rows).toEqual([
    { outcome: 'done', reason: null },
    { outcome: 'given_up', reason: 'it is \\"gone\\"' },
    { outcome: null, reason: 'away' },
  ])
})
