/** Cases of RUNS-W1, RUNS-W2 and RUNS-W4, and of notifications within a process. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import {
  AT_MS,
  cancelling,
  poison,
  result,
  started,
  step,
  token,
} from '../support/event-fixtures.ts'
import {
  claimDue,
  claimRun,
  createRun,
  endedRun,
  ownedRun,
  parkedRun,
  readRecord,
  newUnownedWrite,
  readUnowned,
} from '../support/run-fixtures.ts'
import { watchNotifications } from '../support/watch-notifications.ts'

import type { RunCommand } from '@tutti/protocol'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { StorageCase } from '../support/storage-case.ts'

const LEASED = { owner: 'owner-l', leaseMs: 60_000 }

const SWITCH: RunCommand = { kind: 'switch_model', model: 'm', taskName: 'task-1' }

const COMMANDS: readonly RunCommand[] = [
  SWITCH,
  { kind: 'inject', directive: { content: 'faster', priority: 'HIGH' } },
  { kind: 'decide', reviewId: 'review-1', decision: { action: 'CONTINUE', decidedBy: 'ann' } },
  { kind: 'cancel', mode: 'boundary' },
]

export const commandCases: readonly StorageCase[] = [
  {
    name: '[RUNS-W1] Commands wait in the order in which they were sent until their run answers them',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      await ownedRun(storage, 'run-b')
      const other = await send(storage, 'run-b', SWITCH)
      const ids: string[] = []
      for (const command of COMMANDS) ids.push(await send(storage, 'run-a', command))
      strictEqual(new Set([...ids, other]).size, 5)
      const expected = COMMANDS.map((command, n) => ({ id: ids[n], runId: 'run-a', command }))
      deepStrictEqual(await storage.commands.pending(['run-a']), expected)
      const both = await storage.commands.pending(['run-a', 'run-b', 'run-z'])
      deepStrictEqual(
        both.map(({ id }) => id),
        [other, ...ids],
      )
      deepStrictEqual(await storage.commands.pending([]), [])
      const [first = '', second = ''] = ids
      strictEqual(await storage.commands.answer(first), undefined)
      await a.commit([token('x')], { answers: [{ commandId: second, ok: true, value: 7 }] })
      deepStrictEqual(await storage.commands.pending(['run-a']), [
        ...expected.slice(0, 1),
        ...expected.slice(2),
      ])
      deepStrictEqual(await storage.commands.answer(second), {
        commandId: second,
        ok: true,
        value: 7,
      })
      strictEqual(await storage.commands.answer('unknown'), undefined)
    },
  },
  {
    name: '[RUNS-W1] A command has one answer, the first from the owner of its run',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      const commandId = await send(storage, 'run-a', SWITCH)
      const answers = (value: number) => ({ answers: [{ commandId, ok: true, value }] as const })
      strictEqual((await b.commit([], answers(1))).kind, 'written')
      strictEqual(await storage.commands.answer(commandId), undefined)
      await a.commit([], answers(2))
      await a.commit([token('x')], answers(3))
      deepStrictEqual(await storage.commands.answer(commandId), { commandId, ok: true, value: 2 })
      const unknown = { answers: [{ commandId: 'unknown', ok: true }] } as const
      strictEqual((await a.commit([token('y')], unknown)).kind, 'written')
    },
  },
  {
    name: '[RUNS-W1] An answer is not stored if its write fails',
    async run({ storage, passTime }) {
      const owner = await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      const commandId = await send(storage, 'run-a', SWITCH)
      const answers = [{ commandId, ok: true }] as const
      const { runId, token } = owner
      const write = { runId, token, writeNo: 1, events: [poison()], steps: [], answers }
      strictEqual((await storage.runs.commit([write]))[0]?.kind, 'failed')
      strictEqual(await storage.commands.answer(commandId), undefined)
      await passTime(61_000)
      const [claimed] = await claimDue(storage)
      deepStrictEqual(
        claimed?.commands.map(({ id }) => id),
        [commandId],
      )
      strictEqual((await owner.commit([], { answers })).kind, 'fenced')
      strictEqual(await storage.commands.answer(commandId), undefined)
    },
  },
  {
    name: '[RUNS-W1] The next owner receives the unanswered commands of a lost owner in order',
    async run({ storage, passTime }) {
      await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      const ids = [await send(storage, 'run-a', SWITCH)]
      await passTime(61_000)
      // The lease has expired, but no other process has claimed the run, so its owner can still answer.
      ids.push(await send(storage, 'run-a', SWITCH))
      const [claimed] = await claimDue(storage, { owner: 'owner-b' })
      deepStrictEqual(
        claimed?.commands.map(({ id }) => id),
        ids,
      )
    },
  },
  {
    name: '[RUNS-W2] The sender of a command to an unowned run receives the run and its steps',
    async run({ storage }) {
      await createRun(storage, 'run-ready')
      const { token: readyToken, ...ready } = await readUnowned(storage, 'run-ready')
      const { token: parkedToken, ...parked } = await parkedRun(storage, 'run-parked')
      for (const command of COMMANDS) {
        deepStrictEqual(await storage.commands.send('run-ready', command), {
          kind: 'unowned',
          run: ready,
          token: readyToken,
          steps: [],
        })
        deepStrictEqual(await storage.commands.send('run-parked', command), {
          kind: 'unowned',
          run: parked,
          token: parkedToken,
          steps: [step(1)],
        })
      }
      deepStrictEqual(await storage.commands.pending(['run-ready', 'run-parked']), [])
      deepStrictEqual(await readRecord(storage, 'run-parked'), parked)
    },
  },
  {
    name: '[RUNS-W2] An ended or unknown run receives no command',
    async run({ storage }) {
      const ended = await endedRun(storage, 'run-a')
      for (const command of COMMANDS) {
        const sent = await storage.commands.send('run-a', command)
        deepStrictEqual(sent, { kind: 'ended', run: ended })
        strictEqual(await storage.commands.send('run-z', command), undefined)
      }
      deepStrictEqual(await readRecord(storage, 'run-a'), ended)
    },
  },
  {
    name: '[RUNS-W4] A cancel makes a run CANCELLING; other commands do not',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await ownedRun(storage, 'run-b')
      await owner.commit([started])
      for (const command of COMMANDS.slice(0, 3)) await send(storage, 'run-a', command)
      strictEqual((await readRecord(storage, 'run-a')).status, 'RUNNING')
      await send(storage, 'run-a', { kind: 'cancel', mode: 'abort' })
      strictEqual((await readRecord(storage, 'run-a')).status, 'CANCELLING')
      strictEqual((await readRecord(storage, 'run-b')).status, 'ACCEPTED')
      await owner.commit([token('x'), cancelling])
      strictEqual(await storage.queue.release(owner, { kind: 'parked' }), 'ready')
      strictEqual((await claimRun(storage, 'run-a')).claimed.run.status, 'CANCELLING')
      const { runs } = await storage.runs.list({ statuses: ['CANCELLING'], limit: 9, offset: 0 })
      strictEqual(runs.length, 1)
    },
  },
  {
    name: '[RUNS-W4] A run that was cancelled before its start is still CANCELLING when it starts',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await send(storage, 'run-a', { kind: 'cancel', mode: 'boundary' })
      await owner.commit([started, token('x')])
      const run = await readRecord(storage, 'run-a')
      deepStrictEqual([run.status, run.startedAt], ['CANCELLING', AT_MS])
      await owner.commit([result('run-a', { status: 'COMPLETED' })])
      strictEqual((await readRecord(storage, 'run-a')).status, 'COMPLETED')
    },
  },
  {
    name: '[RUNS-L14] A storage notifies its listeners of ready runs while its process has a free slot',
    async run({ storage }) {
      deepStrictEqual(await claimDue(storage), [])
      const notifications = watchNotifications(storage)
      await createRun(storage, 'run-a')
      await notifications.next({ kind: 'ready' })
      const first = await claimRun(storage, 'run-a')
      await storage.queue.release(first, { kind: 'ready' })
      await notifications.next({ kind: 'ready' })
      const second = await claimRun(storage, 'run-a')
      await storage.queue.release(second, { kind: 'parked' })
      const parked = await readUnowned(storage, 'run-a')
      await storage.runs.commitUnowned(newUnownedWrite(parked, 'ready'))
      await notifications.next({ kind: 'ready' })
      const third = await claimRun(storage, 'run-a')
      await send(storage, 'run-a', SWITCH)
      await storage.queue.release(third, { kind: 'parked' })
      await notifications.next({ kind: 'ready' })
      await claimRun(storage, 'run-a')
      await storage.queue.reclaimAll()
      await notifications.next({ kind: 'ready' })
      notifications.stop()
    },
  },
  {
    name: '[RUNS-W1] A storage notifies its listeners of commands and of stored answers',
    async run({ storage }) {
      const notifications = watchNotifications(storage)
      const owner = await ownedRun(storage, 'run-a')
      const answered = await send(storage, 'run-a', SWITCH)
      await notifications.next({ kind: 'command', runId: 'run-a' })
      const left = await send(storage, 'run-a', SWITCH)
      await notifications.next({ kind: 'command', runId: 'run-a' })
      await owner.commit([], { answers: [{ commandId: answered, ok: true }] })
      await notifications.next({ kind: 'answer', commandId: answered })
      await owner.commit([result('run-a')])
      await notifications.next({ kind: 'answer', commandId: left })
      notifications.stop()
    },
  },
  {
    name: '[RUNS-W1] A listener that throws or was removed does not affect the others',
    async run({ storage }) {
      const stopThrowing = storage.listen(() => {
        throw new Error('a listener is broken')
      })
      const left: unknown[] = []
      storage.listen((notification) => left.push(notification))()
      deepStrictEqual(await claimDue(storage), [])
      const notifications = watchNotifications(storage)
      await createRun(storage, 'run-a')
      await notifications.next({ kind: 'ready' })
      strictEqual((await readRecord(storage, 'run-a')).status, 'ACCEPTED')
      deepStrictEqual(left, [])
      stopThrowing()
      notifications.stop()
    },
  },
]

async function send(storage: RunStorage, runId: string, command: RunCommand): Promise<string> {
  const sent = await storage.commands.send(runId, command)
  ok(sent?.kind === 'sent', `${runId} has an owner`)
  return sent.commandId
}
