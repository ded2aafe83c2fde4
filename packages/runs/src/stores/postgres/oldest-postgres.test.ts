/** The cases of storages on the oldest supported version of Postgres. */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { connectClient } from '../../../../../tooling/postgres/connect-client.ts'
import { oldestServer, type TestServer } from '../../../../../tooling/postgres/test-database.ts'
import { testStorage } from './testing/test-storage.ts'

import type { Client } from 'pg'

let server: TestServer
let client: Client

beforeAll(async () => {
  server = await oldestServer()
  client = await connectClient(server.url)
})

afterAll(async () => {
  await client.end()
  await server[Symbol.asyncDispose]()
})

it('The storage runs on Postgres 15', async () => {
  const { rows } = await client.query('SHOW server_version_num')
  expect(rows).toEqual([{ server_version_num: expect.stringMatching(/^15/) }])
})

testStorage(() => ({ client, options: { connectionString: server.url } }), { skipsValues: true })
