/** Cases of RUNS-L1 to RUNS-L3, RUNS-L6, RUNS-L7, RUNS-L9 and RUNS-L12: claims, leases and suspects. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { SETTLED_AFTER_MS, SUSPECT_DELAY_MS } from '../../domain/suspects.ts'
import { step, token } from '../support/event-fixtures.ts'
import {
  assertClaimed,
  claimDue,
  claimRun,
  createRun,
  OWNER,
  ownedRun,
  toOwner,
  readAll,
  readRecord,
} from '../support/run-fixtures.ts'

import type { LeaseOwner } from '../../ports/run-queue.ts'
import type { StorageCase } from '../support/storage-case.ts'

const LEASED = { owner: 'owner-l', leaseMs: 60_000 }

export const claimCases: readonly StorageCase[] = [
  {
    name: '[RUNS-L9] A run of an unknown ensemble is left to other processes for a while',
    async run({ storage, passTime }) {
      await createRun(storage, 'run-choir', { ensemble: 'choir' })
      await createRun(storage, 'run-band')
      const known = { ensembles: ['band'], othersAfterMs: 60_000 }
      assertClaimed(await claimDue(storage, { known }), ['run-band'])
      await passTime(50_000)
      deepStrictEqual(await claimDue(storage, { known }), [])
      await passTime(11_000)
      assertClaimed(await claimDue(storage, { known }), ['run-choir'])
    },
  },
  {
    name: '[RUNS-L9] A process that knows the ensemble gets the run at once; one that knows none waits for ever',
    async run({ storage, passTime }) {
      await createRun(storage, 'run-a', { ensemble: 'choir' })
      const lost = { owner: 'gone', leaseMs: 1000 }
      const choir = { ensembles: ['x', 'choir'], othersAfterMs: Infinity }
      const nothing = { ensembles: [], othersAfterMs: Infinity }
      deepStrictEqual(await claimDue(storage, { known: nothing }), [])
      assertClaimed(await claimDue(storage, { ...lost, known: choir }), ['run-a'])
      await passTime(1e9)
      deepStrictEqual(await claimDue(storage, { known: nothing }), [])
      assertClaimed(await claimDue(storage, { known: choir }), ['run-a'])
    },
  },
  {
    name: '[RUNS-L1] A claim returns the run with a raised epoch, and no commands or losses for a new run',
    async run({ storage }) {
      const run = await createRun(storage, 'run-a', { tags: { by: 'ci' } })
      const [claimed, ...others] = await claimDue(storage)
      deepStrictEqual(others, [])
      ok(claimed !== undefined)
      deepStrictEqual(claimed, {
        run: { ...run, epoch: 1 },
        token: claimed.token,
        commands: [],
        lostOwners: 0,
      })
      deepStrictEqual(await readRecord(storage, 'run-a'), claimed.run)
    },
  },
  {
    name: '[RUNS-L1] Every claim raises the epoch by one and has a new token, however the run was released',
    async run({ storage, passTime }) {
      const first = await ownedRun(storage, 'run-a')
      const owners = [first]
      const release = async (kind: 'ready' | 'parked'): Promise<void> => {
        strictEqual(await storage.queue.release(owners.at(-1) ?? first, { kind }), kind)
      }
      const claimNext = async (leaseOwner: LeaseOwner): Promise<void> => {
        const claims = await claimDue(storage, leaseOwner)
        owners.push(...claims.map((claimed) => toOwner(storage, claimed)))
      }
      await release('ready')
      await claimNext(LEASED)
      await passTime(61_000)
      await claimNext(OWNER)
      await release('parked')
      owners.push(await claimRun(storage, 'run-a'))
      await storage.queue.reclaimAll()
      owners.push(await claimRun(storage, 'run-a'))
      deepStrictEqual(
        owners.map(({ epoch }) => epoch),
        [1, 2, 3, 4, 5],
      )
      strictEqual(new Set(owners.map(({ token: one }) => one)).size, 5)
    },
  },
  {
    name: '[RUNS-L2] No other process can claim an owned run',
    async run({ storage }) {
      await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      deepStrictEqual(await claimDue(storage, { owner: 'owner-b' }), [])
      strictEqual(await storage.queue.claim('run-a', { ...LEASED, owner: 'owner-b' }), undefined)
      strictEqual(await storage.queue.claim('run-a', LEASED), undefined)
      strictEqual(await storage.queue.claim('run-z', OWNER), undefined)
      strictEqual((await readRecord(storage, 'run-a')).epoch, 1)
    },
  },
  {
    name: '[RUNS-L2] Other processes may claim a run whose lease has expired',
    async run({ storage, passTime }) {
      await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      await passTime(58_000)
      deepStrictEqual(await claimDue(storage), [])
      await passTime(4000)
      assertClaimed(await claimDue(storage, { ...LEASED, owner: 'owner-b' }), ['run-a'])
      await passTime(58_000)
      deepStrictEqual(await claimDue(storage), [])
      await passTime(4000)
      assertClaimed(await claimDue(storage), ['run-a'])
    },
  },
  {
    name: '[RUNS-L2] An infinite lease never expires',
    async run({ storage, passTime }) {
      await ownedRun(storage, 'run-a')
      await createRun(storage, 'run-b')
      assertClaimed(await claimDue(storage), ['run-b'])
      await passTime(1e10)
      deepStrictEqual(await claimDue(storage), [])
      deepStrictEqual((await storage.queue.renew(OWNER)).length, 2)
      await passTime(1e10)
      deepStrictEqual(await claimDue(storage), [])
    },
  },
  {
    name: '[RUNS-L2] Renewing extends only the leases of its owner, counted from now',
    async run({ storage, passTime }) {
      const other = { ...LEASED, owner: 'owner-b' }
      const a = await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      await ownedRun(storage, 'run-b', { leaseOwner: other })
      const c = await ownedRun(storage, 'run-c', { leaseOwner: LEASED })
      await passTime(40_000)
      const held = await storage.queue.renew({ owner: 'owner-l', leaseMs: 30_000 })
      deepStrictEqual(
        held.toSorted((a, b) => a.runId.localeCompare(b.runId)),
        [
          { runId: 'run-a', token: a.token },
          { runId: 'run-c', token: c.token },
        ],
      )
      await passTime(21_000)
      assertClaimed(await claimDue(storage, { owner: 'owner-c' }), ['run-b'])
      await passTime(10_000)
      assertClaimed(await claimDue(storage, { owner: 'owner-c' }), ['run-a', 'run-c'])
    },
  },
  {
    name: '[RUNS-L2] Renewing returns the runs still owned, without those that were released; none once the lease has expired',
    async run({ storage, passTime }) {
      const first = await ownedRun(storage, 'run-1', { leaseOwner: LEASED })
      const { token: second } = await ownedRun(storage, 'run-2', { leaseOwner: LEASED })
      const { token: third } = await ownedRun(storage, 'run-3', { leaseOwner: LEASED })
      await storage.queue.release(first, { kind: 'parked' })
      const held = await storage.queue.renew(LEASED)
      deepStrictEqual(
        held.toSorted((a, b) => a.runId.localeCompare(b.runId)),
        [
          { runId: 'run-2', token: second },
          { runId: 'run-3', token: third },
        ],
      )
      deepStrictEqual(await storage.queue.renew({ ...LEASED, owner: 'owner-c' }), [])
      await passTime(61_000)
      assertClaimed(await claimDue(storage, { owner: 'owner-b', wanted: 1 }), ['run-2'])
      deepStrictEqual(await storage.queue.renew(LEASED), [])
      assertClaimed(await claimDue(storage), ['run-3'])
    },
  },
  {
    name: '[RUNS-L2] An owner that loses a run and claims it again has a new claim',
    async run({ storage, passTime }) {
      const first = await ownedRun(storage, 'run-a', { leaseOwner: LEASED })
      await passTime(61_000)
      const [again] = await claimDue(storage, LEASED)
      ok(again !== undefined)
      deepStrictEqual(await first.commit([token('zombie')]), { kind: 'fenced' })
      strictEqual((await toOwner(storage, again).commit([token('x')])).kind, 'written')
      deepStrictEqual(await storage.queue.renew(LEASED), [{ runId: 'run-a', token: again.token }])
    },
  },
  {
    name: '[RUNS-L3] A claim returns no more runs than wanted, and stays within the limit',
    async run({ storage }) {
      for (let n = 0; n < 6; n += 1) await createRun(storage, `run-${n}`)
      deepStrictEqual(await claimDue(storage, { wanted: 0 }), [])
      deepStrictEqual(await claimDue(storage, { maxConcurrentRuns: 0 }), [])
      assertClaimed(await claimDue(storage, { wanted: 2, maxConcurrentRuns: 3 }), [
        'run-0',
        'run-1',
      ])
      assertClaimed(await claimDue(storage, { wanted: 2, maxConcurrentRuns: 3 }), ['run-2'])
      deepStrictEqual(await claimDue(storage, { wanted: 2, maxConcurrentRuns: 3 }), [])
      deepStrictEqual(await claimDue(storage, { wanted: 2, maxConcurrentRuns: 1 }), [])
      assertClaimed(await claimDue(storage, { wanted: 9, maxConcurrentRuns: 9 }), [
        'run-3',
        'run-4',
        'run-5',
      ])
      deepStrictEqual(await storage.queue.load(), { running: 6, queued: 0, waiting: 0, parked: 0 })
    },
  },
  {
    name: '[RUNS-L3] A run counts until its owner releases it or its lease expires',
    async run({ storage, passTime }) {
      const claim = () => claimDue(storage, { ...LEASED, maxConcurrentRuns: 1 })
      await createRun(storage, 'run-1')
      await createRun(storage, 'run-2')
      const [first] = await claim()
      ok(first !== undefined)
      deepStrictEqual(await claim(), [])
      await storage.queue.release({ runId: 'run-1', token: first.token }, { kind: 'parked' })
      assertClaimed(await claim(), ['run-2'])
      await createRun(storage, 'run-3')
      deepStrictEqual(await claim(), [])
      await passTime(61_000)
      assertClaimed(await claim(), ['run-2'])
      deepStrictEqual(await claim(), [])
    },
  },
  {
    name: '[RUNS-L3] A run that is claimed by its id counts, but may exceed the limit',
    async run({ storage }) {
      await ownedRun(storage, 'run-1')
      await ownedRun(storage, 'run-2')
      await createRun(storage, 'run-3')
      deepStrictEqual(await claimDue(storage, { maxConcurrentRuns: 2 }), [])
      assertClaimed(await claimDue(storage, { maxConcurrentRuns: 3 }), ['run-3'])
    },
  },
  {
    name: '[RUNS-L3] Twenty concurrent claims stay within the limit and get each run once',
    async run({ storage }) {
      for (let n = 0; n < 30; n += 1) await createRun(storage, `run-${n}`)
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          claimDue(storage, { owner: `owner-${n}`, wanted: 3, maxConcurrentRuns: 11 }),
        ),
      )
      const ids = claims.flat().map(({ run }) => run.runId)
      deepStrictEqual([ids.length, new Set(ids).size], [11, 11])
      deepStrictEqual(await storage.queue.load(), {
        running: 11,
        queued: 19,
        waiting: 0,
        parked: 0,
      })
    },
  },
  {
    name: '[RUNS-L2] One of twenty concurrent claims of a run gets it',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          storage.queue.claim('run-a', { ...LEASED, owner: `owner-${n}` }),
        ),
      )
      strictEqual(claims.filter((claimed) => claimed !== undefined).length, 1)
      strictEqual((await readRecord(storage, 'run-a')).epoch, 1)
    },
  },
  {
    name: '[RUNS-L6] Only a claim of an unreleased run counts as a loss, until a settled run stores a step',
    async run({ storage, passTime }) {
      await createRun(storage, 'run-a')
      const claim = async () => {
        const [claimed] = await claimDue(storage, LEASED)
        ok(claimed !== undefined)
        return { owner: toOwner(storage, claimed), lostOwners: claimed.lostOwners }
      }
      strictEqual((await claim()).lostOwners, 0)
      await passTime(62_000)
      strictEqual((await claim()).lostOwners, 1)
      await passTime(62_000)
      const second = await claim()
      strictEqual(second.lostOwners, 2)
      await second.owner.commit([token('no step')])
      await storage.queue.release(second.owner, { kind: 'ready' })
      await passTime(SUSPECT_DELAY_MS)
      const third = await claim()
      strictEqual(third.lostOwners, 2)
      await passTime(SETTLED_AFTER_MS - 1000)
      await third.owner.commit([], { steps: [step(1)] })
      await passTime(62_000)
      const fourth = await claim()
      strictEqual(fourth.lostOwners, 2)
      await passTime(SETTLED_AFTER_MS)
      await fourth.owner.commit([], { steps: [step(2)] })
      await passTime(62_000)
      strictEqual((await claim()).lostOwners, 1)
      await storage.queue.reclaimAll()
      await passTime(SUSPECT_DELAY_MS)
      strictEqual((await claim()).lostOwners, 2)
      strictEqual((await readAll(storage, 'run-a')).length, 2)
    },
  },
  {
    name: '[RUNS-L12] A suspect waits after each loss, (n - 1)² times as long',
    async run({ storage, passTime }) {
      await ownedRun(storage, 'run-a')
      for (const [losses, waits] of [
        [1, 0],
        [2, 1],
        [3, 4],
        [4, 9],
      ] as const) {
        await storage.queue.reclaimAll()
        if (waits > 0) {
          await passTime(waits * SUSPECT_DELAY_MS - 500)
          deepStrictEqual(await claimDue(storage), [])
          await passTime(500)
        }
        const [claimed] = await claimDue(storage)
        strictEqual(claimed?.lostOwners, losses)
      }
    },
  },
  {
    name: '[RUNS-L12] A claim returns one suspect, before all others, and none if its caller takes none',
    async run({ storage, passTime }) {
      for (const runId of ['run-s1', 'run-s2', 'run-s3']) await ownedRun(storage, runId)
      await storage.queue.reclaimAll()
      assertClaimed(await claimDue(storage), ['run-s1', 'run-s2', 'run-s3'])
      await storage.queue.reclaimAll()
      await createRun(storage, 'run-new')
      await ownedRun(storage, 'run-lost')
      await passTime(SUSPECT_DELAY_MS)
      assertClaimed(await claimDue(storage, { takesSuspect: false, wanted: 1 }), ['run-new'])
      assertClaimed(await claimDue(storage, { takesSuspect: false }), [])
      // The three suspects are due at the same time, in any order.
      const first = await claimDue(storage, { wanted: 2 })
      await createRun(storage, 'run-newer')
      const second = await claimDue(storage, { wanted: 1 })
      const rest = await claimDue(storage)
      assertClaimed(rest.slice(1), ['run-newer'])
      const suspects = [first, second, rest.slice(0, 1)].map((claimed) =>
        claimed.map(({ run }) => run.runId).join(),
      )
      deepStrictEqual(suspects.toSorted(), ['run-s1', 'run-s2', 'run-s3'])
    },
  },
  {
    name: '[RUNS-L12] Suspects count toward the limit like other runs',
    async run({ storage, passTime }) {
      for (const runId of ['run-s1', 'run-s2']) await ownedRun(storage, runId)
      await storage.queue.reclaimAll()
      await claimDue(storage)
      await storage.queue.reclaimAll()
      await createRun(storage, 'run-new')
      await passTime(SUSPECT_DELAY_MS)
      const limited = { maxConcurrentRuns: 2 }
      assertClaimed(await claimDue(storage, limited), ['run-s1', 'run-new'])
      deepStrictEqual(await claimDue(storage, limited), [])
      deepStrictEqual(await storage.queue.load(), { running: 2, queued: 1, parked: 0, waiting: 0 })
    },
  },
]
