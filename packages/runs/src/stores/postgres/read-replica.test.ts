import { describe, expect, it } from 'vitest'

import { testDatabase } from '../../../../../tooling/postgres/test-database.ts'
import { queued } from '../../testing/support/event-fixtures.ts'
import { newRun } from '../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'
import { ownDatabase } from '../../../test/own-database.ts'

const database = ownDatabase()

describe('a replica for lists', () => {
  it('Lists are unavailable, and nothing else is, until the replica has the tables and columns', async () => {
    await using replica = await testDatabase()
    await using storage = await postgresRunStorage({
      connectionString: database.url,
      readConnectionString: replica.url,
    })
    const run = newRun('run-1')
    await storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 9 })
    const list = () => storage.runs.list({ limit: 5, offset: 0 })
    const error = { code: 'STORE_UNAVAILABLE', retryable: true }

    await expect(list()).rejects.toMatchObject(error)
    await expect(storage.threads.list({ limit: 5 })).rejects.toMatchObject(error)
    expect(storage.isAvailable).toBe(true)
    expect((await storage.runs.get('run-1'))?.runId).toBe('run-1')

    await using applied = await postgresRunStorage({ connectionString: replica.url })
    expect(applied.isAvailable).toBe(true)
    expect(await list()).toMatchObject({ total: 0 })
  })

  it('A missing table of the primary is an error of the program', async () => {
    await using storage = await postgresRunStorage({
      connectionString: database.url,
      schema: 'gone',
    })
    await database.client.query('DROP SCHEMA gone CASCADE')
    await expect(storage.runs.list({ limit: 5, offset: 0 })).rejects.toMatchObject({
      code: '42P01',
    })
  })
})
