/** The cases of storages behind PgBouncer in transaction mode, with a direct connection for LISTEN. */
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  findPgBouncer,
  startPgBouncer,
  type PgBouncer,
} from '../../../../../tooling/postgres/pgbouncer.ts'
import { ownDatabase } from '../../../test/own-database.ts'
import { testStorage } from './testing/test-storage.ts'

describe.skipIf(isMissing())('behind PgBouncer', () => {
  const database = ownDatabase()
  let bouncer: PgBouncer

  beforeAll(async () => {
    bouncer = await startPgBouncer(database.url)
  })

  afterAll(() => bouncer[Symbol.asyncDispose]())

  it('Server connections behind PgBouncer are shared between transactions', async () => {
    const clients = Array.from({ length: 12 }, () => new Client(bouncer.url))
    await Promise.all(clients.map((client) => client.connect()))
    const pids = await Promise.all(clients.map(readServerPid))
    expect(new Set(pids).size).toBeLessThanOrEqual(5)
    await Promise.all(clients.map((client) => client.end()))
  })

  testStorage(
    () => ({
      client: database.client,
      options: { connectionString: bouncer.url, listenConnectionString: database.url },
    }),
    { skipsValues: true },
  )
})

/** Returns whether the tests are skipped, with a warning. In CI they fail instead. */
function isMissing(): boolean {
  try {
    findPgBouncer()
    return false
  } catch (error) {
    if (process.env['CI'] !== undefined) return false
    console.warn(error instanceof Error ? error.message : error)
    return true
  }
}

async function readServerPid(client: Client): Promise<unknown> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return rows[0].pid
}
