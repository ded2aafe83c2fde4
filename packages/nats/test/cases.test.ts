/** The cases of dispatchers, and those of notifications between processes, over one real NATS server. */
import { dispatcherCases, sharedStorageCases } from '@tutti/runs/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startNatsCluster, type NatsCluster } from '../../../tooling/nats/nats-cluster.ts'
import { hasNatsServer } from '../../../tooling/nats/nats-server.ts'
import { ownDatabase } from '../../runs/test/own-database.ts'
import { openOverNats } from './nats-place.ts'

import type { RunStorage } from '@tutti/runs/adapter'

/** A store wakes processes; NATS offers them runs instead. */
const applies = ({ name }: { readonly name: string }): boolean => !name.startsWith('[RUNS-L14]')

describe.skipIf(!hasNatsServer())('a Postgres store with NATS', () => {
  const database = ownDatabase()
  let cluster: NatsCluster
  let places = 0

  beforeAll(async () => {
    cluster = await startNatsCluster(1)
  })

  afterAll(() => cluster[Symbol.asyncDispose]())

  it.for([...dispatcherCases, ...sharedStorageCases].filter(applies))('$name', async ({ run }) => {
    places += 1
    const schema = `place_${places}`
    const opened: RunStorage[] = []
    const open = async (): Promise<RunStorage> => {
      const storage = await openOverNats({
        connectionString: database.url,
        schema,
        servers: cluster.url,
        prefix: schema,
        storePollMs: 500,
      })
      opened.push(storage)
      return storage
    }
    const storage = await open()
    expect(storage.dispatcher.engine).toEqual({ name: 'nats', isConnected: true })
    const passTime = async (ms: number): Promise<void> => {
      const past = `- ${ms} * interval '1 millisecond'`
      await database.client.query(
        `UPDATE ${schema}.runs SET due_at = due_at ${past}, claimed_at = claimed_at ${past},
           start_by = start_by - ${ms};
         UPDATE ${schema}.leases SET expires_at = expires_at ${past};
         UPDATE ${schema}.deliveries SET due_at = due_at ${past}`,
      )
    }
    try {
      await run({ storage, passTime, another: open })
    } finally {
      await Promise.all(opened.map((one) => one[Symbol.asyncDispose]()))
    }
  })
})
