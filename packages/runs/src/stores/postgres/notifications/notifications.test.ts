import { silentLogger } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import { tcpProxy } from '../../../../../../tooling/net/tcp-proxy.ts'
import { poison, token } from '../../../testing/support/event-fixtures.ts'
import { claimDue, createRun, ownedRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { CLOCK_SQL, DatabaseClock } from '../database/database-clock.ts'
import { PostgresNotifications, toSharedChannel } from './notifications.ts'
import { recordNotifications } from '../testing/record-notifications.ts'
import { ownDatabase } from '../../../../test/own-database.ts'

import type { StoreNotification } from '../../../ports/notifications.ts'
import type { RunStorage } from '../../../ports/run-storage.ts'

const database = ownDatabase()
let schema = ''
let schemas = 0

beforeEach(() => {
  schemas += 1
  schema = `notices_${schemas}`
})

const open = (): Promise<RunStorage> =>
  postgresRunStorage({ connectionString: database.url, schema, maxConnections: 4 })

describe('notifications between stores', () => {
  it('[RUNS-N1] A store sends no notification of events that were not stored', async () => {
    await using writer = await open()
    await using reader = await open()
    const owner = await ownedRun(writer, 'run-a')
    const recorded = recordNotifications(reader.listen)
    await reader.events.follow({ runIds: ['run-a'], all: false })
    expect((await owner.commit([poison()])).kind).toBe('failed')
    const [result] = await writer.runs.commit([
      { runId: 'run-a', token: owner.token, writeNo: 1, events: [token('x')], steps: [] },
    ])
    expect(result?.kind).toBe('written')
    await recorded.first(isWritten)
    expect(recorded.all.filter(isWritten)).toEqual([
      { kind: 'events', runId: 'run-a', from: 1, to: 1 },
    ])
  })

  it('A store is notified at once of runs that it makes ready, but not of events that it writes', async () => {
    await using storage = await open()
    const recorded = recordNotifications(storage.listen)
    await claimDue(storage)
    await createRun(storage, 'run-a')
    const owner = await ownedRun(storage, 'run-b')
    await owner.commit([token('x')])
    const sent = await storage.commands.send('run-b', { kind: 'cancel', mode: 'abort' })
    expect(sent?.kind).toBe('sent')
    const commandId = sent?.kind === 'sent' ? sent.commandId : ''
    await owner.commit([], { answers: [{ commandId, ok: true }] })
    await Promise.resolve()
    expect(recorded.all).toEqual([
      { kind: 'ready' },
      { kind: 'ready' },
      { kind: 'command', runId: 'run-b' },
      { kind: 'answer', commandId },
    ])
  })

  it('A store splits 500 runs of one commit into several payloads, and sends all', async () => {
    await using writer = await open()
    await using reader = await open()
    const names = Array.from({ length: 500 }, (_, index) => `run-with-quite-a-long-name-${index}`)
    const owners = []
    // In groups, because on a busy machine the last of 500 would wait too long for a connection.
    while (owners.length < names.length) {
      const next = names.slice(owners.length, owners.length + 20)
      owners.push(...(await Promise.all(next.map((name) => ownedRun(writer, name)))))
    }
    const recorded = recordNotifications(reader.listen)
    await reader.events.follow({ runIds: names, all: false })
    const results = await writer.runs.commit(
      owners.map((owner) => owner.next([token('x'), token('y')])),
    )
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['written']))
    await recorded.first(
      (notification) => isWritten(notification) && notification.runId.endsWith('-499'),
    )
    expect(recorded.all.filter(isWritten)).toHaveLength(500)
    expect(recorded.all.filter(isWritten)[7]).toMatchObject({ from: 1, to: 2 })
  })

  it('A store isolates listeners that throw or were removed', async () => {
    await using storage = await open()
    storage.listen(() => {
      throw new Error('not me')
    })
    const stopped = recordNotifications((listener) => {
      storage.listen(listener)()
    })
    const recorded = recordNotifications(storage.listen)
    await claimDue(storage)
    await createRun(storage, 'run-a')
    await recorded.first(({ kind }) => kind === 'ready')
    expect(stopped.all).toEqual([])
  })
})

describe('the LISTEN connection', () => {
  it('[RUNS-N2] The LISTEN connection reconnects after a loss, and sends a missed notification', async () => {
    await using writer = await open()
    await using reader = await open()
    const recorded = recordNotifications(reader.listen)
    const { rowCount } = await database.client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE query LIKE $1 AND datname = current_database()`,
      [`%LISTEN "${toSharedChannel(schema)}"`],
    )
    expect(rowCount).toBe(2)
    await recorded.first(
      (notification) => notification.kind === 'availability' && !notification.isAvailable,
    )
    await recorded.first(
      (notification) => notification.kind === 'availability' && notification.isAvailable,
    )
    expect(reader.isAvailable).toBe(true)
    await listeners(2)
    await claimDue(reader, { owner: `${reader.processName}-1`, leaseMs: 60_000 })
    recorded.clear()
    await createRun(writer, 'run-a')
    await recorded.first(({ kind }) => kind === 'ready')
  })

  it('[RUNS-N2] The LISTEN connection sends missed only when it listens again', async () => {
    await using server = await tcpProxy(database.url)
    await using notifications = await openNotifications(server.url)
    const recorded = recordNotifications((listener) => notifications.listen(listener))
    const lost = notifications.lost()
    server.pause()
    await lost
    expect(recorded.all).toEqual([])
    server.resume()
    await recorded.first(({ kind }) => kind === 'missed')
    await database.client.query('SELECT pg_notify($1, $2)', [
      toSharedChannel(schema),
      '{"from":"x","items":[{"kind":"ready"}]}',
    ])
    await recorded.first(({ kind }) => kind === 'ready')
  })

  it('[RUNS-N3] The LISTEN connection is polled repeatedly and stays open while it answers', async () => {
    await using notifications = await openNotifications(database.url)
    const asked = async (): Promise<number> => {
      const { rows } = await database.client.query<{ asked: Date }>(
        `SELECT query_start AS asked FROM pg_stat_activity
         WHERE query = $1 AND application_name = 'tutti-runs'
           AND datname = current_database()
           AND backend_start > clock_timestamp() - interval '20 s' ORDER BY 1 DESC LIMIT 1`,
        [CLOCK_SQL],
      )
      return rows[0]?.asked.getTime() ?? 0
    }
    const recorded = recordNotifications((listener) => notifications.listen(listener))
    await expect.poll(asked).toBeGreaterThan(0)
    const first = await asked()
    await expect.poll(asked).toBeGreaterThan(first)
    expect(recorded.all).toEqual([])
  })
})

/** Whether the notification is about events after the first event of a run. */
function isWritten(
  notification: StoreNotification,
): notification is Extract<StoreNotification, { kind: 'events' }> {
  return notification.kind === 'events' && notification.from > 0
}

async function listeners(count: number): Promise<void> {
  await expect
    .poll(async () => {
      const { rowCount } = await database.client.query(
        `SELECT FROM pg_stat_activity
         WHERE query LIKE $1 AND datname = current_database()`,
        [`%LISTEN "${toSharedChannel(schema)}"`],
      )
      return rowCount
    })
    .toBe(count)
}

/** Opens a connection that is polled often. */
async function openNotifications(connectionString: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const notifications = new PostgresNotifications({
    connectionString,
    schema,
    logger: silentLogger,
    clock: new DatabaseClock(silentLogger),
    onLost() {
      resolve()
    },
    pollMs: 150,
  })
  await notifications.open()
  return {
    listen: notifications.listen.bind(notifications),
    lost: () => promise,
    [Symbol.asyncDispose]: () => notifications.close(),
  }
}
