import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import { turns } from '../../../../test/turns.ts'
import { result, started, token } from '../../../testing/support/event-fixtures.ts'
import { claimDue, createRun, ownedRun } from '../../../testing/support/run-fixtures.ts'
import { postgresRunStorage } from '../index.ts'
import { recordNotifications } from '../testing/record-notifications.ts'
import { recordStatements } from '../testing/record-statements.ts'
import { notificationGatherMs, notifiesOfEvents } from '../../../domain/fleet-pace.ts'
import { NotificationSender } from './notification-sender.ts'

import type { AddressedNotification, StoreNotification } from '../../../ports/notifications.ts'

const database = ownDatabase()

describe('NotificationSender', () => {
  it('[RUNS-N4] NotificationSender sends the first notification at once, and gathers those of the next 25 ms', async () => {
    const { sender, clock, sent } = setUp()
    sender.send([events('run-a', 1)])
    sender.send([events('run-a', 2), events('run-a', 3), events('run-b', 1)])
    await turns()
    expect(sent).toEqual([[{ kind: 'events', runId: 'run-a', from: 1, to: 1 }]])
    await clock.advance(24)
    expect(sent).toHaveLength(1)
    await clock.advance(1)
    expect(sent[1]).toEqual([
      { kind: 'events', runId: 'run-a', from: 2, to: 3 },
      { kind: 'events', runId: 'run-b', from: 1, to: 1 },
    ])
  })

  it('[RUNS-N4] NotificationSender drops notifications that cannot be sent, and logs a series of failures once', async () => {
    const { sender, clock, sent, logged, breakDown, repair } = setUp()
    breakDown()
    for (const seq of [1, 2, 3]) {
      sender.send([events('run-a', seq)])
      await turns()
      await clock.advance(25)
    }
    repair()
    sender.send([events('run-a', 4)])
    await turns()
    expect(sent).toEqual([[{ kind: 'events', runId: 'run-a', from: 4, to: 4 }]])
    expect(logged).toEqual([
      'warn Failed to notify other processes; their readers poll',
      'info Notifications are sent again',
    ])
  })

  it.for([
    { processes: 1, statements: 40 },
    { processes: 200, statements: 5 },
    { processes: 1_000, statements: 2 },
  ])(
    '[RUNS-N6] NotificationSender sends at most $statements statements a second in a fleet of $processes',
    async ({ processes, statements }) => {
      const { sender, clock, sent } = setUp({ processes })
      for (let seq = 1; seq < 100; seq += 1) {
        sender.send([signal(`run-${seq}`)])
        await turns()
        await clock.advance(10)
      }
      expect(sent.length).toBeLessThanOrEqual(statements)
      await clock.advance(500)
      expect(sent.flat()).toHaveLength(99)
    },
  )

  it.for([
    { processes: 50, kinds: ['events', 'command'] },
    { processes: 51, kinds: ['command'] },
  ])(
    '[RUNS-N6] NotificationSender sends $kinds in a fleet of $processes',
    async ({ processes, kinds }) => {
      const { sender, clock, sent } = setUp({ processes })
      sender.send([events('run-a', 1)])
      await turns()
      await clock.advance(500)
      sender.send([signal('run-a')])
      await turns()
      expect(sent.flat()).toMatchObject(kinds.map((kind) => ({ kind })))
    },
  )

  it('NotificationSender sends nothing to its own process, and nothing after it was closed', async () => {
    const { sender, clock, sent } = setUp()
    sender.send([{ ...events('run-a', 1), channel: 'own' }])
    await turns()
    sender.send([events('run-a', 2)])
    sender.send([events('run-a', 3)])
    sender.close()
    await turns()
    await clock.advance(25)
    expect(sent).toEqual([[{ kind: 'events', runId: 'run-a', from: 2, to: 2 }]])
  })
})

describe('a store with followers in another process', () => {
  it('[RUNS-N5] A store with followers in another process notifies only the owner of a command, and only its sender of the answer', async () => {
    const open = () => postgresRunStorage({ connectionString: database.url, schema: 'commands' })
    await using storage = await open()
    await using sender = await open()
    await using bystander = await open()
    const received = [storage, sender, bystander].map(({ listen }) => recordNotifications(listen))
    const leaseOwner = { owner: `${storage.processName}-1`, leaseMs: 60_000 }
    const owner = await ownedRun(storage, 'run-a', { leaseOwner })
    const sent = await sender.commands.send('run-a', { kind: 'cancel', mode: 'abort' })
    const commandId = sent?.kind === 'sent' ? sent.commandId : ''
    await received[0]?.first(({ kind }) => kind === 'command')
    await owner.commit([token('x')], { answers: [{ commandId, ok: true }] })
    await received[1]?.first(({ kind }) => kind === 'answer')
    // Sent after the others, so that they would have arrived.
    await claimDue(bystander, { owner: `${bystander.processName}-1`, leaseMs: 60_000 })
    await createRun(storage, 'run-b')
    await received[2]?.first(({ kind }) => kind === 'ready')
    expect(received.map(({ all }) => all.map(({ kind }) => kind).filter(isAboutCommands))).toEqual([
      ['command'],
      ['answer'],
      [],
    ])
  })

  it('[RUNS-N4] A store with followers in another process notifies only outside of transactions', async () => {
    await using storage = await postgresRunStorage({ connectionString: database.url })
    await using other = await postgresRunStorage({ connectionString: database.url })
    await other.events.follow({ runIds: [], all: true })
    const { statements, stop } = recordStatements()
    const owner = await ownedRun(storage, 'run-a')
    await owner.commit([started, token('x')])
    const sent = await other.commands.send('run-a', { kind: 'cancel', mode: 'abort' })
    const commandId = sent?.kind === 'sent' ? sent.commandId : ''
    await owner.commit([token('y')], { answers: [{ commandId, ok: true }] })
    await storage.queue.release(owner, { kind: 'ready' })
    const next = await ownedRun(storage, 'run-b')
    await next.commit([result('run-b')])
    await createRun(storage, 'run-c')
    const notifying = () => statements.filter(({ text }) => text.includes('pg_notify'))
    await expect.poll(() => notifying().length).toBeGreaterThan(2)
    stop()
    expect(notifying().filter(({ isInTransaction }) => isInTransaction)).toEqual([])
    for (const { text } of notifying()) expect(text).not.toMatch(/INSERT|UPDATE|DELETE/)
  })
})

function isAboutCommands(kind: StoreNotification['kind']): boolean {
  return kind === 'command' || kind === 'answer'
}

function events(runId: string, seq: number): AddressedNotification {
  return { channel: 'other', notification: { kind: 'events', runId, from: seq, to: seq } }
}

function signal(runId: string): AddressedNotification {
  return { channel: 'other', notification: { kind: 'command', runId } }
}

function setUp({ processes = 1 } = {}) {
  const clock = fakeClock()
  const sent: unknown[] = []
  const logged: string[] = []
  let isBroken = false
  const log = (level: string) => (message: string) => logged.push(`${level} ${message}`)
  const sender = new NotificationSender({
    channel: 'own',
    schema: 'tutti',
    async query(_sql, [, payloads] = []) {
      if (isBroken) throw new Error('too many notifications in the NOTIFY queue')
      if (!Array.isArray(payloads)) throw new TypeError('no payloads')
      for (const payload of payloads) sent.push(JSON.parse(String(payload)).items)
      return []
    },
    logger: { ...silentLogger, warn: log('warn'), info: log('info') },
    gatherMs: () => notificationGatherMs(processes),
    notifiesOfEvents: () => notifiesOfEvents(processes),
    clock,
  })
  return {
    sender,
    clock,
    sent,
    logged,
    breakDown: () => {
      isBroken = true
    },
    repair: () => {
      isBroken = false
    },
  }
}
