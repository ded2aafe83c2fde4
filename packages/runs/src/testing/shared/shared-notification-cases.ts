/** Cases of notifications to other processes. They wait for notifications and never sleep. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { toLoggedEvents, ODD_TEXT, result, started, token } from '../support/event-fixtures.ts'
import {
  assertClaimed,
  claimDue,
  claimRun,
  createRun,
  ownedRun,
  readAll,
  readRecord,
  newUnownedWrite,
  readUnowned,
} from '../support/run-fixtures.ts'
import { watchNotifications } from '../support/watch-notifications.ts'

import type { StoreNotification } from '../../ports/notifications.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { SharedStorageCase } from '../support/storage-case.ts'

export const sharedNotificationCases: readonly SharedStorageCase[] = [
  {
    name: '[RUNS-P3] Another process is notified of written events and can read them',
    async run({ storage, another }) {
      const other = await another()
      const notifications = watchNotifications(other)
      await other.events.follow({ runIds: [], all: true })
      const run = await createRun(storage, 'run-a')
      await notifications.events('run-a', run.lastSeq)
      await other.events.follow({ runIds: ['run-a'], all: false })
      const owner = await claimRun(storage, 'run-a')
      await owner.commit([started, token('x')])
      await notifications.events('run-a', 1)
      await notifications.events('run-a', 2)
      strictEqual((await readAll(other, 'run-a')).length, 3)
      await storage.queue.release(owner, { kind: 'parked' })
      const events = [token('at rest')]
      const parked = await readUnowned(storage, 'run-a')
      await storage.runs.commitUnowned(newUnownedWrite(parked, 'stay', { events }))
      await notifications.events('run-a', 3)
      deepStrictEqual((await readAll(other, 'run-a')).slice(3), toLoggedEvents('run-a', 3, events))
      notifications.stop()
    },
  },
  {
    name: '[RUNS-P3] Another process is notified of every run of a large batch',
    async run({ storage, another }) {
      const owners = []
      for (let n = 0; n < 150; n += 1) {
        owners.push(await ownedRun(storage, `run-with-a-name-that-takes-some-room-on-the-way-${n}`))
      }
      const other = await another()
      const notifications = watchNotifications(other)
      await other.events.follow({ runIds: owners.map(({ runId }) => runId), all: false })
      await storage.runs.commit(owners.map((owner) => owner.next([token('x')])))
      for (const { runId } of owners) await notifications.events(runId, 1)
      notifications.stop()
    },
  },
  {
    name: '[RUNS-F7] A process is notified of events of the runs that it follows, and of no others',
    async run({ storage, another }) {
      const other = await another()
      const [first, second] = [await ownedRun(storage, 'run-a'), await ownedRun(storage, 'run-b')]
      const received: StoreNotification[] = []
      other.listen((notification) => received.push(notification))
      const notifications = watchNotifications(other)
      await other.events.follow({ runIds: ['run-b'], all: false })
      await first.commit([token('before')])
      // A process sends notifications in order, so this one shows that the one before was sent.
      await second.commit([token('followed')])
      await notifications.events('run-b', 1)
      await other.events.follow({ runIds: ['run-a', 'run-b'], all: false })
      await first.commit([token('followed')])
      await notifications.events('run-a', 2)
      await other.events.follow({ runIds: ['run-b'], all: false })
      await first.commit([token('after')])
      await second.commit([token('followed')])
      await notifications.events('run-b', 2)
      const written = received.filter(({ kind }) => kind === 'events')
      deepStrictEqual(written, [
        { kind: 'events', runId: 'run-b', from: 1, to: 1 },
        { kind: 'events', runId: 'run-a', from: 2, to: 2 },
        { kind: 'events', runId: 'run-b', from: 2, to: 2 },
      ])
      notifications.stop()
    },
  },
  {
    name: '[RUNS-L14] Another process with a free slot is notified of ready runs and can claim them',
    async run({ storage, another }) {
      const other = await another()
      const leaseOf = ({ processName }: RunStorage) => ({
        owner: `${processName}-a`,
        leaseMs: 60_000,
        wanted: 1,
      })
      deepStrictEqual(await claimDue(other, leaseOf(other)), [])
      const notifications = watchNotifications(other)
      await createRun(storage, 'run-a')
      await notifications.next({ kind: 'ready' })
      const [claimed] = await claimDue(other, leaseOf(other))
      ok(claimed !== undefined)
      deepStrictEqual(await claimDue(storage, leaseOf(storage)), [])
      const own = watchNotifications(storage)
      await other.queue.release({ runId: 'run-a', token: claimed.token }, { kind: 'ready' })
      await own.next({ kind: 'ready' })
      assertClaimed(await claimDue(storage), ['run-a'])
      own.stop()
      notifications.stop()
    },
  },
  {
    name: '[RUNS-W1] A command reaches an owner in another process, and its answer the sender',
    async run({ storage, another }) {
      const other = await another()
      const owner = await ownedRun(storage, 'run-a')
      const atOwner = watchNotifications(storage)
      const atSender = watchNotifications(other)
      const command = { kind: 'inject', directive: { content: ODD_TEXT } } as const
      const sent = await other.commands.send('run-a', command)
      ok(sent?.kind === 'sent')
      const { commandId } = sent
      await atOwner.next({ kind: 'command', runId: 'run-a' })
      deepStrictEqual(await storage.commands.pending(['run-a']), [
        { id: commandId, runId: 'run-a', command },
      ])
      const answer = { commandId, ok: true, value: [ODD_TEXT] } as const
      await owner.commit([token('x')], { answers: [answer] })
      await atSender.next({ kind: 'answer', commandId })
      deepStrictEqual(await other.commands.answer(commandId), answer)
      strictEqual((await readAll(other, 'run-a')).length, 2)
      atOwner.stop()
      atSender.stop()
    },
  },
  {
    name: '[RUNS-W3] The end of a run answers commands that another process sent',
    async run({ storage, another }) {
      const other = await another()
      const owner = await ownedRun(storage, 'run-a')
      const sent = await other.commands.send('run-a', { kind: 'cancel', mode: 'abort' })
      ok(sent?.kind === 'sent')
      strictEqual((await readRecord(storage, 'run-a')).status, 'CANCELLING')
      const notifications = watchNotifications(other)
      await owner.commit([result('run-a')])
      await notifications.next({ kind: 'answer', commandId: sent.commandId })
      const answer = await other.commands.answer(sent.commandId)
      strictEqual(answer?.ok === false && answer.error.code, 'RUN_COMPLETED')
      notifications.stop()
    },
  },
]
