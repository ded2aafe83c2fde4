/** The cases of storages behind PgBouncer in transaction mode, with a direct connection for LISTEN. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { hasProgram } from '../../../../../tooling/net/find-program.ts'
import { connectClient } from '../../../../../tooling/postgres/connect-client.ts'
import {
  PGBOUNCER,
  startPgBouncer,
  type PgBouncer,
} from '../../../../../tooling/postgres/pgbouncer.ts'
import { ownDatabase } from '../../../test/own-database.ts'
import { testStorage } from './testing/test-storage.ts'

import type { Client } from 'pg'

describe.skipIf(!hasProgram(PGBOUNCER))('behind PgBouncer', () => {
  const database = ownDatabase({ isPrepared: true })
  let bouncer: PgBouncer

  beforeAll(async () => {
    bouncer = await startPgBouncer(database.url)
  })

  afterAll(() => bouncer[Symbol.asyncDispose]())

  it('Server connections behind PgBouncer are shared between transactions', async () => {
    const clients = await Promise.all(Array.from({ length: 12 }, () => connectClient(bouncer.url)))
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
