/** A database for the tests of one file. */
import { afterAll, beforeAll, beforeEach } from 'vitest'

import { connectClient } from '../../../tooling/postgres/connect-client.ts'
import { testDatabase, type TestDatabase } from '../../../tooling/postgres/test-database.ts'

import type { Client } from 'pg'

/** The database, and a direct connection to it. Both exist while the tests run. */
export interface OwnDatabase {
  readonly url: string
  readonly client: Client
}

export interface OwnDatabaseOptions {
  /** Whether a hook prepares the database for all tests of the file. @default false */
  readonly isPrepared?: boolean
}

/**
 * Creates a database before the tests of the file, and drops it after them. A test that is repeated after a failure gets a
 * new one, because its ids are fixed, unless the database is prepared.
 */
export function ownDatabase({ isPrepared = false }: OwnDatabaseOptions = {}): OwnDatabase {
  let database: TestDatabase
  let client: Client
  const open = async (): Promise<void> => {
    database = await testDatabase()
    client = await connectClient(database.url)
  }
  const close = async (): Promise<void> => {
    await client.end()
    await database[Symbol.asyncDispose]()
  }
  beforeAll(open)
  beforeEach(async ({ task }) => {
    if (isPrepared || (task.result?.retryCount ?? 0) === 0) return
    await close()
    await open()
  })
  afterAll(close)
  return {
    get url() {
      return database.url
    },
    get client() {
      return client
    },
  }
}
