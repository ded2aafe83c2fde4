/** Cases of RUNS-P10 and RUNS-O1 to RUNS-O4: deliveries to webhooks. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import {
  completed,
  ODD_TEXT,
  poison,
  result,
  reviewRequested,
  started,
  token,
} from '../support/event-fixtures.ts'
import {
  claimRun,
  createRun,
  endedRun,
  ownedRun,
  readRecord,
  newUnownedWrite,
  UNKNOWN_TOKEN,
  readUnowned,
} from '../support/run-fixtures.ts'

import type { StoreNotification } from '../../ports/notifications.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { ClaimedDelivery, DeliveryEnd } from '../../ports/webhook-outbox.ts'
import type { StorageCase } from '../support/storage-case.ts'

const HOOKED = { webhooks: ['hook'] }
const CLAIM_MS = 10_000

export const outboxCases: readonly StorageCase[] = [
  {
    name: '[RUNS-O1] The end of a run and a review create a delivery for each webhook, due at once',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a', { webhooks: ['b', 'a'] })
      deepStrictEqual(await claimed(storage), [])
      await owner.commit([started, completed])
      deepStrictEqual(await claimed(storage), [])
      await owner.commit([token('x'), reviewRequested('review-a'), token('y')])
      const deliveries = await storage.outbox.claim({ limit: 9, claimMs: CLAIM_MS })
      deepStrictEqual(deliveries, [
        { id: 'run-a:4:b', runId: 'run-a', seq: 4, webhook: 'b', attempt: 1 },
        { id: 'run-a:4:a', runId: 'run-a', seq: 4, webhook: 'a', attempt: 1 },
      ])
      await owner.commit([reviewRequested('review-b'), token('z'), result('run-a')])
      deepStrictEqual(await claimed(storage), ['run-a:6:b', 'run-a:6:a', 'run-a:8:b', 'run-a:8:a'])
    },
  },
  {
    name: '[RUNS-O1] A run without webhooks has no deliveries, and a webhook gets one delivery per event',
    async run({ storage }) {
      const plain = await ownedRun(storage, 'run-a')
      await plain.commit([reviewRequested('review-a'), result('run-a')])
      await endedRun(storage, 'run-b', { webhooks: [] })
      deepStrictEqual(await claimed(storage), [])
      await endedRun(storage, 'run-c', { webhooks: ['hook', 'hook'] })
      deepStrictEqual(await claimed(storage), ['run-c:1:hook'])
    },
  },
  {
    name: '[RUNS-O1] A write to an unowned run creates deliveries as well',
    async run({ storage }) {
      await createRun(storage, 'run-a', HOOKED)
      const run = await readUnowned(storage, 'run-a')
      const events = [token('x'), result('run-a')]
      await storage.runs.commitUnowned(newUnownedWrite(run, 'stay', { events }))
      deepStrictEqual(await claimed(storage), ['run-a:2:hook'])
    },
  },
  {
    name: '[RUNS-O1] Each run of a batch has deliveries to its own webhooks',
    async run({ storage }) {
      const owners = [
        await ownedRun(storage, 'run-a', HOOKED),
        await ownedRun(storage, 'run-b'),
        await ownedRun(storage, 'run-c', { webhooks: ['other'] }),
      ]
      await storage.runs.commit(
        owners.map((owner) => owner.next([token('x'), result(owner.runId)])),
      )
      deepStrictEqual((await claimed(storage)).toSorted(), ['run-a:2:hook', 'run-c:2:other'])
    },
  },
  {
    name: '[RUNS-O1] Listeners are notified of new deliveries only',
    async run({ storage }) {
      const notifications: StoreNotification[] = []
      const stop = storage.listen((notification) => notifications.push(notification))
      const deliveries = async (): Promise<number> => {
        await new Promise(setImmediate)
        return notifications.filter(({ kind }) => kind === 'delivery').length
      }
      await endedRun(storage, 'run-a')
      const owner = await ownedRun(storage, 'run-b', { webhooks: ['one', 'two'] })
      await owner.commit([token('x')])
      strictEqual(await deliveries(), 0)
      await owner.commit([reviewRequested('review-a'), result('run-b')])
      strictEqual(await deliveries(), 1)
      await createRun(storage, 'run-c', HOOKED)
      const run = await readUnowned(storage, 'run-c')
      await storage.runs.commitUnowned(newUnownedWrite(run, 'stay', { events: [result('run-c')] }))
      strictEqual(await deliveries(), 2)
      stop()
    },
  },
  {
    name: '[RUNS-P10] A failed write creates no delivery, and a repeated write creates one',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a', HOOKED)
      const other = await ownedRun(storage, 'run-b', HOOKED)
      const [bad, good] = await storage.runs.commit([
        owner.next([result('run-a'), poison()]),
        other.next([reviewRequested('review-b')]),
      ])
      deepStrictEqual([bad?.kind, good?.kind], ['failed', 'written'])
      deepStrictEqual(await claimed(storage), ['run-b:1:hook'])
      const write = other.next([result('run-b')])
      for (const _ of [1, 2]) {
        strictEqual((await storage.runs.commit([write]))[0]?.kind, 'written')
      }
      const fenced = { ...write, token: UNKNOWN_TOKEN, writeNo: 3 }
      strictEqual((await storage.runs.commit([fenced]))[0]?.kind, 'fenced')
      deepStrictEqual(await claimed(storage), ['run-b:2:hook'])
    },
  },
  {
    name: '[RUNS-O2] A claimed delivery is due again when its claim expires, as the next attempt',
    async run({ storage, passTime }) {
      await endedRun(storage, 'run-a', HOOKED)
      strictEqual((await take(storage)).attempt, 1)
      await passTime(CLAIM_MS - 1000)
      deepStrictEqual(await claimed(storage), [])
      await passTime(2000)
      strictEqual((await take(storage)).attempt, 2)
      deepStrictEqual(await claimed(storage), [])
    },
  },
  {
    name: '[RUNS-O2] The deliveries due the longest are claimed first, no more than wanted',
    async run({ storage, passTime }) {
      const ids = []
      for (const n of [3, 1, 2, 4]) {
        await endedRun(storage, `run-${n}`, HOOKED)
        ids.push(`run-${n}:1:hook`)
        await passTime(2000)
      }
      const first = await take(storage)
      await settle(storage, first, { kind: 'retry', dueInMs: 3000, reason: 'away' })
      deepStrictEqual(await claimed(storage, 1), [ids[1]])
      await passTime(4000)
      await endedRun(storage, 'run-5', HOOKED)
      deepStrictEqual(await claimed(storage, 1), [ids[2]])
      deepStrictEqual(await claimed(storage, 2), [ids[3], ids[0]])
      deepStrictEqual(await claimed(storage), ['run-5:1:hook'])
      deepStrictEqual(await claimed(storage, 0), [])
    },
  },
  {
    name: '[RUNS-O2] An infinite claim never expires, and its delivery can be settled',
    async run({ storage, passTime }) {
      await endedRun(storage, 'run-a', HOOKED)
      const forever = { limit: Infinity, claimMs: Infinity }
      const [delivery] = await storage.outbox.claim(forever)
      ok(delivery !== undefined)
      await passTime(1e9)
      deepStrictEqual(await claimed(storage), [])
      await settle(storage, delivery, { kind: 'retry', dueInMs: 0, reason: 'away' })
      strictEqual((await take(storage)).attempt, 2)
    },
  },
  {
    name: '[RUNS-O2] Many concurrent claims never get the same delivery',
    async run({ storage }) {
      for (let n = 0; n < 12; n += 1) await endedRun(storage, `run-${n}`, HOOKED)
      const all = await Promise.all(Array.from({ length: 8 }, () => claimed(storage, 2)))
      const ids = [...all.flat(), ...(await claimed(storage, 99))]
      deepStrictEqual([ids.length, new Set(ids).size], [12, 12])
    },
  },
  {
    name: '[RUNS-O3] A delivery that is done or abandoned is never due again, even if it is settled again',
    async run({ storage, passTime }) {
      await endedRun(storage, 'run-a', { webhooks: ['done', 'given up'] })
      const [done, hopeless] = await storage.outbox.claim({ limit: 9, claimMs: CLAIM_MS })
      ok(done !== undefined && hopeless !== undefined)
      await settle(storage, done, { kind: 'done' })
      await settle(storage, hopeless, { kind: 'given_up', reason: ODD_TEXT })
      for (const one of [done, hopeless]) {
        await settle(storage, one, { kind: 'retry', dueInMs: 0, reason: 'late' })
      }
      await passTime(1_000_000)
      deepStrictEqual(await claimed(storage), [])
    },
  },
  {
    name: '[RUNS-O3] A delivery that is retried is due after the requested delay, every time',
    async run({ storage, passTime }) {
      await endedRun(storage, 'run-a', HOOKED)
      for (const attempt of [1, 2, 3]) {
        const delivery = await take(storage)
        strictEqual(delivery.attempt, attempt)
        await settle(storage, delivery, { kind: 'retry', dueInMs: 60_000, reason: ODD_TEXT })
        await passTime(59_000)
        deepStrictEqual(await claimed(storage), [])
        await passTime(2000)
      }
    },
  },
  {
    name: '[RUNS-O3] Deliveries are deleted with their run; settling them then does nothing',
    async run({ storage, passTime }) {
      await endedRun(storage, 'run-a', { webhooks: ['one', 'two'] })
      const delivery = await take(storage)
      strictEqual(await storage.runs.delete('run-a'), 'deleted')
      await settle(storage, delivery, { kind: 'retry', dueInMs: 0, reason: 'away' })
      await passTime(CLAIM_MS + 1000)
      deepStrictEqual(await claimed(storage), [])
      for (const id of ['', 'run-a', 'run-a:x:y', 'run-z:1:hook', `run-a:${'9'.repeat(30)}:h`]) {
        await settle(storage, { id, attempt: 1 }, { kind: 'done' })
      }
    },
  },
  {
    name: '[RUNS-O4] An outcome is ignored if another process has claimed the delivery since',
    async run({ storage, passTime }) {
      await endedRun(storage, 'run-a', HOOKED)
      const old = await take(storage)
      await passTime(CLAIM_MS + 1000)
      const present = await take(storage)
      await settle(storage, old, { kind: 'retry', dueInMs: 0, reason: 'late' })
      deepStrictEqual(await claimed(storage), [])
      await settle(storage, old, { kind: 'done' })
      await passTime(CLAIM_MS + 1000)
      strictEqual((await take(storage)).attempt, 3)
      await settle(storage, present, { kind: 'given_up', reason: 'late' })
      await passTime(CLAIM_MS + 1000)
      strictEqual((await take(storage)).attempt, 4)
    },
  },
  {
    name: '[RUNS-O4] A late outcome counts if no other process has claimed the delivery',
    async run({ storage, passTime }) {
      await endedRun(storage, 'run-a', HOOKED)
      const delivery = await take(storage)
      await passTime(CLAIM_MS + 1000)
      await settle(storage, delivery, { kind: 'done' })
      deepStrictEqual(await claimed(storage), [])
    },
  },
  {
    name: '[RUNS-O1] Webhooks are distinguished by their full names, and each is settled separately',
    async run({ storage, passTime }) {
      const names = [
        ODD_TEXT,
        ODD_TEXT.replace('\ud800', '\ud801'),
        'a:1:b',
        'a',
        '"',
        ' 🎻'.repeat(999),
      ]
      await createRun(storage, 'run-a', { webhooks: names })
      await (await claimRun(storage, 'run-a')).commit([result('run-a')])
      const all = await storage.outbox.claim({ limit: 9, claimMs: CLAIM_MS })
      deepStrictEqual(
        all.map(({ webhook }) => webhook),
        names,
      )
      const every2nd = <T>(list: readonly T[], from: number) =>
        list.filter((_, at) => at % 2 === from)
      for (const delivery of every2nd(all, 0)) await settle(storage, delivery, { kind: 'done' })
      await passTime(CLAIM_MS + 1000)
      const left = every2nd(names, 1).map((name) => `run-a:1:${name}`)
      deepStrictEqual(await claimed(storage), left)
    },
  },
  {
    name: '[RUNS-P9] A run with pending deliveries can be deleted, also by age',
    async run({ storage }) {
      await endedRun(storage, 'run-a', HOOKED)
      deepStrictEqual(await storage.runs.deleteEnded({ keep: 0, limit: 9 }), ['run-a'])
      deepStrictEqual(await claimed(storage), [])
      const run = await readRecord(storage, 'run-a').catch(() => undefined)
      strictEqual(run, undefined)
    },
  },
]

/** Claims deliveries and returns their ids in order. */
async function claimed(storage: RunStorage, limit = 99): Promise<readonly string[]> {
  const deliveries = await storage.outbox.claim({ limit, claimMs: CLAIM_MS })
  return deliveries.map(({ id }) => id)
}

/** Claims the next delivery. */
async function take(storage: RunStorage): Promise<ClaimedDelivery> {
  const [delivery] = await storage.outbox.claim({ limit: 1, claimMs: CLAIM_MS })
  ok(delivery !== undefined, 'a delivery is due')
  return delivery
}

function settle(
  storage: RunStorage,
  { id, attempt }: Pick<ClaimedDelivery, 'id' | 'attempt'>,
  end: DeliveryEnd,
): Promise<void> {
  return storage.outbox.settle({ id, attempt }, end)
}
