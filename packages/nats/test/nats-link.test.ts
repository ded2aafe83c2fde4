/** The connection to a real server that rejects the credentials of the process for a while. */
import { silentLogger } from '@tutti/core/internal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  startNatsCluster,
  type NatsCluster,
  type NatsNode,
} from '../../../tooling/nats/nats-cluster.ts'
import { hasNatsServer } from '../../../tooling/nats/nats-server.ts'
import { until } from '../../../tooling/test-kit/wait.ts'
import { NatsLink } from '../src/nats-link.ts'
import { NatsNotifications } from '../src/nats-notifications.ts'
import { resolveNatsEngineOptions } from '../src/options.ts'
import { createNames } from '../src/subjects.ts'

import type { StoreNotification } from '@tutti/runs/adapter'

describe.skipIf(!hasNatsServer())('the connection to a NATS server', () => {
  let cluster: NatsCluster
  let node: NatsNode

  beforeAll(async () => {
    cluster = await startNatsCluster(1)
    const [first] = cluster.nodes
    if (first === undefined) throw new Error('The cluster has no server')
    node = first
  })

  afterAll(() => cluster[Symbol.asyncDispose]())

  /** Opens a link, and the notifications of a process over it. */
  function openProcess(processName: string) {
    const settings = resolveNatsEngineOptions({ servers: cluster.url })
    const names = createNames('test')
    const received: StoreNotification[] = []
    const link = new NatsLink({
      settings,
      names,
      logger: silentLogger,
      processName,
      onOpen: (client) => {
        notifications.onOpen(client)
      },
      onChange: () => undefined,
    })
    const host = {
      processName,
      receive: (some: readonly StoreNotification[]) => {
        received.push(...some)
      },
      notifications: { send: () => undefined },
    }
    const notifications = new NatsNotifications({ host, link, names })
    return { link, notifications, received }
  }

  it('[NATS-E8] The link replaces a client that has closed its connection, with all of its subscriptions', async () => {
    const reader = openProcess('reader')
    await until('NATS can be used', () => reader.link.ready !== undefined)
    await reader.notifications.follow({ runIds: ['run-1'], all: false })
    const first = reader.link.opened

    await node.kill()
    await node.start(['--user=ann', '--pass=secret'])
    await until('the client gives up', () => first?.connection.isClosed() === true)
    expect(reader.link.ready).toBeUndefined()
    await node.kill()
    await node.start()

    await until('NATS can be used again', () => reader.link.ready !== undefined)
    expect(reader.link.opened).not.toBe(first)
    const writer = openProcess('writer')
    await until('the writer can use NATS', () => writer.link.ready !== undefined)
    writer.notifications.publish([{ kind: 'events', runId: 'run-1', from: 1, to: 2 }])
    await until('the reader is notified', () => reader.received.length > 0)
    expect(reader.received).toEqual([{ kind: 'events', runId: 'run-1', from: 1, to: 2 }])
    await Promise.all([reader.link.close(), writer.link.close()])
  })

  it('[NATS-E8] A client that is closed by a drain is replaced', async () => {
    const { link } = openProcess('drained')
    await until('NATS can be used', () => link.ready !== undefined)
    const first = link.opened
    await first?.connection.drain()
    await until('there is another client', () => link.ready !== undefined && link.opened !== first)
    await link.close()
  })
})
