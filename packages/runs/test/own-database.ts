/** A database for the tests of one file. */
import { Client } from 'pg'
import { afterAll, beforeAll } from 'vitest'

import { testDatabase, type TestDatabase } from '../../../tooling/postgres/test-database.ts'

/** The database, and a direct connection to it. Both exist while the tests run. */
export interface OwnDatabase {
  readonly url: string
  readonly client: Client
}

/** Creates a database before the tests of the file, and drops it after them. */
export function ownDatabase(): OwnDatabase {
  let database: TestDatabase
  let client: Client
  beforeAll(async () => {
    database = await testDatabase()
    client = new Client({ connectionString: database.url })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await database[Symbol.asyncDispose]()
  })
  return {
    get url() {
      return database.url
    },
    get client() {
      return client
    },
  }
}
