/** Cases of a shared storage: each process sees and respects the writes of the others. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { toLoggedEvents, ODD_TEXT, queued, started, step, token } from './support/event-fixtures.ts'
import {
  assertClaimed,
  CLAIMANT,
  claimDue,
  createOwned,
  createRun,
  endedRun,
  newRun,
  ownedRun,
  toOwner,
  parkedRun,
  readAll,
  readRecord,
  newUnownedWrite,
} from './support/run-fixtures.ts'
import { sharedMemoryCases } from './tables/memory-cases.ts'
import { sharedThreadCases } from './runs/thread-cases.ts'
import { sharedExternalEventCases } from './tables/external-event-cases.ts'
import { sharedSecretCases } from './tables/secret-cases.ts'
import { sharedOrderCases } from './queue/shared-order-cases.ts'
import { sharedActorCases } from './shared/shared-actor-cases.ts'
import { sharedNotificationCases } from './shared/shared-notification-cases.ts'
import { at, openStorages } from './support/open-storages.ts'

import type { RunStorage } from '../ports/run-storage.ts'
import type { SharedStorageCase } from './support/storage-case.ts'

const LEASED = { owner: 'owner-l', leaseMs: 60_000 }

/** Tests that each store for several processes passes, in addition to `runStorageCases`. */
export const sharedStorageCases: readonly SharedStorageCase[] = [
  ...sharedNotificationCases,
  ...sharedActorCases,
  ...sharedOrderCases,
  ...sharedSecretCases,
  ...sharedExternalEventCases,
  ...sharedThreadCases,
  ...sharedMemoryCases,
  {
    name: '[RUNS-P4] A process reads the run, tasks, steps, reviews and events that another wrote',
    async run({ storage, another }) {
      const other = await another()
      strictEqual(storage.isShared && other.isShared, true)
      strictEqual(storage.isAvailable && other.isAvailable, true)
      const owner = await ownedRun(storage, 'run-a', { tags: { by: ODD_TEXT } })
      await owner.commit([started, token(ODD_TEXT)], { steps: [step(1)] })
      deepStrictEqual(await readRecord(other, 'run-a'), await readRecord(storage, 'run-a'))
      deepStrictEqual(await other.runs.tasks('run-a'), await storage.runs.tasks('run-a'))
      deepStrictEqual(await other.runs.steps('run-a'), [step(1)])
      const events = (await readAll(other, 'run-a')).slice(1)
      deepStrictEqual(events, toLoggedEvents('run-a', 1, [started, token(ODD_TEXT)]))
      deepStrictEqual(await other.events.follow({ runIds: [], all: true }), [
        { runId: 'run-a', lastSeq: 2 },
      ])
      deepStrictEqual(await other.queue.load(), { running: 1, queued: 0, waiting: 0, parked: 0 })
    },
  },
  {
    name: '[RUNS-P15] Processes that create runs at once take no more of them than the limit',
    async run({ storage, another }) {
      const other = await another()
      const created = await Promise.all(
        Array.from({ length: 20 }, (_, n) => {
          const owner = n % 2 === 0 ? 'owner-even' : 'owner-odd'
          const claimant = { ...CLAIMANT, owner, leaseMs: 60_000, maxConcurrentRuns: 5 }
          return createOwned(n % 2 === 0 ? storage : other, `run-${n}`, claimant)
        }),
      )
      const atOnce = created.filter((claim) => claim !== undefined).length
      ok(atOnce <= 5, `${atOnce} runs were claimed`)
      const rest = { ...LEASED, wanted: 20, maxConcurrentRuns: 5 }
      const claimed = await storage.dispatcher.take(rest)
      strictEqual(atOnce + (claimed?.length ?? 0), 5)
      deepStrictEqual(await other.queue.load(), { running: 5, queued: 15, waiting: 0, parked: 0 })
    },
  },
  {
    name: '[RUNS-P15] A run that was claimed at its creation is lost with the lease of its owner, which takes no other',
    async run({ storage, another, passTime }) {
      const claimant = { ...CLAIMANT, leaseMs: 2_000, maxConcurrentRuns: 9 }
      ok((await createOwned(storage, 'run-a', claimant)) !== undefined)
      await passTime(5_000)
      strictEqual(await createOwned(storage, 'run-b', claimant), undefined)
      const other = await another()
      const claimed = await claimDue(other, { ...LEASED, wanted: 9 })
      deepStrictEqual(
        claimed.map(({ run, lostOwners }) => [run.runId, lostOwners]),
        [
          ['run-a', 1],
          ['run-b', 0],
        ],
      )
    },
  },
  {
    name: '[RUNS-L17] A process has a lease until it ends, also without runs',
    async run({ storage, another, passTime }) {
      const other = await another()
      const [busy, idle] = ['owner-busy', 'owner-idle']
      deepStrictEqual(await listLeases(other, busy, idle), [false, false])
      await ownedRun(storage, 'run-a', { leaseOwner: { owner: busy, leaseMs: 60_000 } })
      await storage.queue.renew({ owner: idle, leaseMs: 60_000 })
      deepStrictEqual(await listLeases(other, busy, idle), [true, true])
      await passTime(58_000)
      await storage.queue.renew({ owner: idle, leaseMs: 60_000 })
      await passTime(4_000)
      deepStrictEqual(await listLeases(other, busy, idle), [false, true])
    },
  },
  {
    name: '[RUNS-L2] A claimed run cannot be claimed by another process, and one limit applies to all',
    async run({ storage, another }) {
      const other = await another()
      for (const n of [1, 2, 3]) await createRun(storage, `run-${n}`)
      const limit = { maxConcurrentRuns: 2 }
      assertClaimed(await claimDue(storage, { ...LEASED, ...limit, wanted: 1 }), ['run-1'])
      strictEqual(await other.queue.claim('run-1', { owner: 'owner-b', leaseMs: 1 }), undefined)
      assertClaimed(await claimDue(other, { owner: 'owner-b', ...limit }), ['run-2'])
      deepStrictEqual(await claimDue(storage, limit), [])
      deepStrictEqual(await claimDue(other, limit), [])
    },
  },
  {
    name: '[RUNS-L3] Concurrent claims from several processes stay within the limit and get each run once',
    async run(given) {
      const all = await openStorages(given, 4)
      for (let n = 0; n < 30; n += 1) await createRun(given.storage, `run-${n}`)
      const claims = await Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          claimDue(at(all, n), { owner: `owner-${n}`, wanted: 3, maxConcurrentRuns: 13 }),
        ),
      )
      const ids = claims.flat().map(({ run }) => run.runId)
      deepStrictEqual([ids.length, new Set(ids).size], [13, 13])
      deepStrictEqual(await given.storage.queue.load(), {
        running: 13,
        queued: 17,
        waiting: 0,
        parked: 0,
      })
    },
  },
  {
    name: '[RUNS-P2] An owner whose run another process took over is fenced in all operations',
    async run({ storage, another, passTime }) {
      const other = await another()
      const old = await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      await old.commit([token('1')], { steps: [step(1)] })
      await passTime(61_000)
      const [claimed] = await claimDue(other, { owner: 'owner-b' })
      ok(claimed !== undefined)
      deepStrictEqual([claimed.lostOwners, await other.runs.steps('run-a')], [1, [step(1)]])
      deepStrictEqual(await old.commit([token('zombie')]), { kind: 'fenced' })
      strictEqual(await storage.queue.release(old, { kind: 'parked' }), 'fenced')
      deepStrictEqual(await storage.queue.renew(LEASED), [])
      const written = await toOwner(other, claimed).commit([token('2')])
      deepStrictEqual(written, {
        kind: 'written',
        events: toLoggedEvents('run-a', 2, [token('2')]),
      })
      strictEqual((await readAll(storage, 'run-a')).length, 3)
    },
  },
  {
    name: '[RUNS-P8] One of several concurrent writes to an unowned run is stored',
    async run(given) {
      const all = await openStorages(given, 3)
      const run = await parkedRun(given.storage, 'run-a')
      const results = await Promise.all(
        Array.from({ length: 9 }, (_, n) => {
          const write = newUnownedWrite(run, 'stay', { events: [token(`${n}`)] })
          return at(all, n).runs.commitUnowned(write)
        }),
      )
      strictEqual(results.filter(({ kind }) => kind === 'written').length, 1)
      strictEqual(results.filter(({ kind }) => kind === 'fenced').length, 8)
      strictEqual((await readAll(given.storage, 'run-a')).length, run.lastSeq + 2)
    },
  },
  {
    name: '[RUNS-P1] Concurrent submissions from several processes create one run per key and stay within the limit',
    async run(given) {
      const all = await openStorages(given, 3)
      const submission = { idempotencyKey: 'key', fingerprint: 'print' }
      const create = (n: number, changes: object, maxUnfinishedRuns: number) => {
        const run = newRun(`run-${n}`, changes)
        return at(all, n).runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns })
      }
      const same = await Promise.all(
        Array.from({ length: 9 }, (_, n) => create(n, { submission }, 99)),
      )
      strictEqual(same.filter(({ kind }) => kind === 'created').length, 1)
      strictEqual((await given.storage.queue.load()).queued, 1)
      const others = await Promise.allSettled(
        Array.from({ length: 18 }, (_, n) => create(n + 100, {}, 8)),
      )
      strictEqual(others.filter(({ status }) => status === 'fulfilled').length, 7)
      strictEqual((await given.storage.queue.load()).queued, 8)
    },
  },
  {
    name: '[RUNS-L5] A command that another process sends during a release is not lost',
    async run({ storage, another }) {
      const other = await another()
      for (let n = 0; n < 12; n += 1) {
        const owner = await ownedRun(storage, `run-${n}`)
        const [sent, became] = await Promise.all([
          other.commands.send(owner.runId, { kind: 'switch_model', model: 'm' }),
          storage.queue.release(owner, { kind: 'parked' }),
        ])
        strictEqual(became, sent?.kind === 'sent' ? 'ready' : 'parked')
      }
    },
  },
  {
    name: '[RUNS-P3] Concurrent batches from several processes leave no gaps in any run',
    async run(given) {
      const all = await openStorages(given, 3)
      const groups = []
      for (const [index, storage] of all.entries()) {
        const owners = []
        for (const n of [3, 1, 2]) owners.push(await ownedRun(storage, `run-${n}-${index}`))
        groups.push({ storage, owners })
      }
      for (let round = 0; round < 10; round += 1) {
        const results = await Promise.all(
          groups.map(({ storage, owners }) =>
            storage.runs.commit(owners.map((owner) => owner.next([token('x'), token('y')]))),
          ),
        )
        ok(results.flat().every(({ kind }) => kind === 'written'))
      }
      for (const { runId } of groups.flatMap(({ owners }) => owners)) {
        const seqs = (await readAll(given.storage, runId)).map(({ seq }) => seq)
        deepStrictEqual(
          seqs,
          Array.from({ length: 21 }, (_, seq) => seq),
        )
      }
    },
  },
  {
    name: '[RUNS-P9] Concurrent deletions delete each run once',
    async run(given) {
      const [one, other] = await openStorages(given, 2)
      ok(one !== undefined && other !== undefined)
      for (let n = 0; n < 8; n += 1) await endedRun(one, `run-${n}`)
      const gone = new Set<string>()
      for (let round = 0; gone.size < 8 && round < 20; round += 1) {
        const ids = await Promise.all(
          [one, other].map((storage) => storage.runs.deleteEnded({ keep: 0, limit: 3 })),
        )
        for (const id of ids.flat()) {
          ok(!gone.has(id), `${id} is deleted once`)
          gone.add(id)
        }
      }
      strictEqual(gone.size, 8)
      strictEqual((await one.runs.list({ limit: 9, offset: 0 })).total, 0)
    },
  },
  {
    name: '[RUNS-L2] Several processes can open the store at once; one that closes does not affect runs or other processes',
    async run({ storage, another }) {
      const others = await Promise.all(Array.from({ length: 4 }, () => another()))
      const [first, ...rest] = others
      ok(first !== undefined)
      await ownedRun(first, 'run-a', { leaseOwner: LEASED })
      await first[Symbol.asyncDispose]()
      for (const open of [storage, ...rest]) {
        strictEqual((await readRecord(open, 'run-a')).epoch, 1)
        deepStrictEqual(await claimDue(open), [])
      }
    },
  },
]

function listLeases({ queue }: RunStorage, ...owners: readonly string[]) {
  return Promise.all(owners.map((owner) => queue.hasLease(owner)))
}
