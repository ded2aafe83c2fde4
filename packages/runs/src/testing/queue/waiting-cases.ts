/** Cases of RUNS-L3 and RUNS-L11: owned runs that wait for a person take no slot. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import { CALLER_REVIEW_KINDS } from '@tutti/protocol/internal'

import {
  cancelling,
  queued,
  reviewDecided,
  reviewRequested,
  started,
} from '../support/event-fixtures.ts'
import {
  assertClaimed,
  claimDue,
  createRun,
  OWNER,
  newRun,
  ownedRun,
  readRecord,
  type Owner,
  readUnowned,
  UNKNOWN_TOKEN,
} from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { WaitsFor } from '../../ports/run-queue.ts'
import type { StorageCase } from '../support/storage-case.ts'

const LEASED = { owner: 'owner-l', leaseMs: 60_000 }

export const waitingCases: readonly StorageCase[] = [
  {
    name: '[RUNS-L3] A run that its owner marks as waiting frees its slot',
    async run({ storage }) {
      const [first, second] = [await ownedRun(storage, 'run-1'), await ownedRun(storage, 'run-2')]
      await createRun(storage, 'run-3')
      await createRun(storage, 'run-4')
      const claim = () => claimDue(storage, { maxConcurrentRuns: 2 })
      deepStrictEqual(await claim(), [])
      strictEqual(await storage.queue.markWaiting(first, 'reviews'), true)
      assertClaimed(await claim(), ['run-3'])
      deepStrictEqual(await claim(), [])
      strictEqual(await storage.queue.markWaiting(second, 'reviews'), true)
      strictEqual(await storage.queue.markWaiting(first, 'nothing'), true)
      deepStrictEqual(await claim(), [])
      await storage.queue.release(first, { kind: 'parked' })
      assertClaimed(await claim(), ['run-4'])
      deepStrictEqual(await storage.queue.load(), { running: 2, queued: 0, waiting: 1, parked: 1 })
      const { running, waiting, parked } = await storage.queue.metrics()
      deepStrictEqual({ running, waiting, parked }, { running: 2, waiting: 1, parked: 1 })
    },
  },
  {
    name: '[RUNS-L3] Twenty claims at once stay within the limit while runs wait and continue',
    async run({ storage }) {
      const waiting: Owner[] = []
      for (let n = 0; n < 10; n += 1) waiting.push(await ownedRun(storage, `run-w${n}`))
      for (const owner of waiting) await storage.queue.markWaiting(owner, 'reviews')
      for (let n = 0; n < 30; n += 1) await createRun(storage, `run-${n}`)
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          claimDue(storage, { owner: `owner-${n}`, wanted: 3, maxConcurrentRuns: 7 }),
        ),
      )
      strictEqual(claims.flat().length, 7)
      deepStrictEqual(await storage.queue.load(), {
        running: 7,
        queued: 23,
        waiting: 10,
        parked: 0,
      })
    },
  },
  {
    name: '[RUNS-L3] A waiting run that lost its owner takes a slot again when it is claimed',
    async run({ storage, passTime }) {
      const owner = await ownedRun(storage, 'run-1', { leaseOwner: LEASED })
      await storage.queue.markWaiting(owner, 'reviews')
      await createRun(storage, 'run-2')
      await passTime(61_000)
      const claim = () => claimDue(storage, { ...LEASED, maxConcurrentRuns: 1 })
      assertClaimed(await claim(), ['run-1'])
      deepStrictEqual(await claim(), [])
      strictEqual((await readRecord(storage, 'run-1')).status, 'RUNNING')
    },
  },
  {
    name: '[RUNS-L11] Only the owner of a run can mark it, and only until the run has ended',
    async run({ storage }) {
      await createRun(storage, 'run-1')
      const mark = (token: string, runId = 'run-1') =>
        storage.queue.markWaiting({ runId, token }, 'reviews')
      const { token: before } = await readUnowned(storage, 'run-1')
      strictEqual(await mark(before), false)
      const [claimed] = await claimDue(storage)
      ok(claimed !== undefined)
      strictEqual(await mark(before), false)
      strictEqual(await mark(UNKNOWN_TOKEN), false)
      strictEqual(await mark(claimed.token, 'run-z'), false)
      strictEqual(await mark(claimed.token), true)
      await storage.queue.release({ runId: 'run-1', token: claimed.token }, { kind: 'parked' })
      strictEqual(await mark(claimed.token), false)
      deepStrictEqual(await storage.queue.load(), { running: 0, queued: 0, waiting: 0, parked: 1 })
    },
  },
  {
    name: '[RUNS-L11] The record of a marked run is WAITING_REVIEW or WAITING by its open reviews, then RUNNING, and stays CANCELLING',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-1')
      await owner.commit([started, reviewRequested('sleep', { kind: 'EVENT' })])
      const mark = async (waitsFor: WaitsFor): Promise<string> => {
        await storage.queue.markWaiting(owner, waitsFor)
        return (await readRecord(storage, 'run-1')).status
      }
      deepStrictEqual([await mark('reviews'), await mark('nothing')], ['WAITING', 'RUNNING'])
      for (const kind of CALLER_REVIEW_KINDS) {
        await owner.commit([reviewRequested(kind, { kind })])
        deepStrictEqual(
          [await mark('reviews'), await mark('nothing')],
          ['WAITING_REVIEW', 'RUNNING'],
        )
        await owner.commit([reviewDecided(kind)])
        deepStrictEqual([await mark('reviews'), await mark('agents')], ['WAITING', 'RUNNING'])
      }
      await owner.commit([reviewRequested('person'), reviewDecided('sleep')])
      deepStrictEqual([await mark('reviews'), await mark('agents')], ['WAITING_REVIEW', 'RUNNING'])
      await owner.commit([cancelling])
      deepStrictEqual([await mark('reviews'), await mark('agents')], ['CANCELLING', 'CANCELLING'])
    },
  },
  {
    name: '[RUNS-L11] The mark is gone when the run is claimed again, however it was released',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-1')
      await storage.queue.markWaiting(owner, 'reviews')
      await storage.queue.release(owner, { kind: 'ready' })
      const [claimed] = await claimDue(storage)
      ok(claimed !== undefined)
      deepStrictEqual(await storage.queue.load(), { running: 1, queued: 0, waiting: 0, parked: 0 })
      await storage.queue.markWaiting({ runId: 'run-1', token: claimed.token }, 'reviews')
      await storage.queue.reclaimAll()
      strictEqual((await storage.queue.claim('run-1', OWNER))?.run.epoch, 3)
      deepStrictEqual(await storage.queue.load(), { running: 1, queued: 0, waiting: 0, parked: 0 })
    },
  },
  {
    name: '[RUNS-P1] A waiting run does not count toward the limit of waiting and executing runs',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-1')
      await rejects(submit(storage, 'run-2'), { code: 'CONCURRENCY_LIMIT' })
      await storage.queue.markWaiting(owner, 'reviews')
      strictEqual((await submit(storage, 'run-2')).kind, 'created')
    },
  },
]

function submit(storage: RunStorage, runId: string) {
  const run = newRun(runId)
  return storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 1 })
}
