/** The cases of storages behind PgBouncer in transaction mode, with a direct connection for LISTEN. */
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { hasProgram } from '../../../../../tooling/net/find-program.ts'
import {
  PGBOUNCER,
  startPgBouncer,
  type PgBouncer,
} from '../../../../../tooling/postgres/pgbouncer.ts'
import { ownDatabase } from '../../../test/own-database.ts'
import { testStorage } from './testing/test-storage.ts'

describe.skipIf(!hasProgram(PGBOUNCER))('behind PgBouncer', () => {
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

async function readServerPid(client: Client): Promise<unknown> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return rows[0].pid
}
