/** The cases of added tasks that wait for people, over Postgres with one real NATS server. */
import { afterAll, beforeAll, describe, it } from 'vitest'

import { startNatsCluster, type NatsCluster } from '../../../tooling/nats/nats-cluster.ts'
import { hasNatsServer } from '../../../tooling/nats/nats-server.ts'
import { ownDatabase } from '../../runs/test/own-database.ts'
import { sharedChildrenCases, waitingChildrenCases } from '../../runs/test/waiting-children.ts'
import { openOverNats } from './nats-place.ts'

describe.skipIf(!hasNatsServer())('added tasks that wait for people, with NATS', () => {
  const database = ownDatabase()
  let cluster: NatsCluster
  let places = 0

  beforeAll(async () => {
    cluster = await startNatsCluster(1)
  })

  afterAll(() => cluster[Symbol.asyncDispose]())

  it.for([...waitingChildrenCases, ...sharedChildrenCases])('$name', async ({ run }) => {
    places += 1
    const schema = `children_${places}`
    await run({
      open: () =>
        openOverNats({
          connectionString: database.url,
          schema,
          servers: cluster.url,
          prefix: schema,
          storePollMs: 500,
        }),
    })
  })
})
