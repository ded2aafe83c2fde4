/** Cases of RUNS-L18: delayed runs, and runs that must begin in time. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { started } from '../support/event-fixtures.ts'
import {
  assertClaimed,
  CLAIMANT,
  claimDue,
  claimRun,
  createRun,
  newRun,
  OWNER,
  readRecord,
} from '../support/run-fixtures.ts'
import { queued } from '../support/event-fixtures.ts'

import type { StorageCase } from '../support/storage-case.ts'

const SOON_MS = 2_000

/** Returns an instant so many milliseconds from now, by the clock of the process, which a test may set in the store. */
async function storeNow(storage: Parameters<StorageCase['run']>[0]['storage']): Promise<number> {
  // A run that must begin at 0 has expired; the time since then is the clock of the store.
  const probe = `probe-${crypto.randomUUID()}`
  await createRun(storage, probe, { startBy: FAR })
  const { nextInMs } = await storage.queue.findExpired(10)
  const owner = await claimRun(storage, probe)
  await owner.commit([started])
  return FAR - nextInMs
}

/** An instant after all tests. */
const FAR = Date.UTC(2100, 0)

export const startTimeCases: readonly StorageCase[] = [
  {
    name: '[RUNS-L18] A delayed run is not claimed before its time, also not by the process that creates it',
    async run({ storage, passTime }) {
      const startAt = (await storeNow(storage)) + SOON_MS
      const run = newRun('run-a', { startAt })
      const created = await storage.runs.create(run, {
        firstEvent: queued(run),
        maxUnfinishedRuns: 99,
        claimant: { ...CLAIMANT, maxConcurrentRuns: 5 },
      })
      deepStrictEqual([created.kind, 'claim' in created], ['created', false])
      await createRun(storage, 'run-b')
      assertClaimed(await claimDue(storage), ['run-b'])
      const { status, startAt: stored } = await readRecord(storage, 'run-a')
      deepStrictEqual([status, stored], ['ACCEPTED', startAt])
      strictEqual((await storage.queue.load()).parked, 1)
      await passTime(SOON_MS + 1_000)
      assertClaimed(await claimDue(storage), ['run-a'])
      strictEqual((await readRecord(storage, 'run-a')).status, 'ACCEPTED')
    },
  },
  {
    name: '[RUNS-L18] A run whose time has passed is due at once, and a claim by id takes a run before its time',
    async run({ storage }) {
      const now = await storeNow(storage)
      await createRun(storage, 'run-a', { startAt: now - SOON_MS })
      await createRun(storage, 'run-b', { startAt: now + 1_000 * SOON_MS })
      assertClaimed(await claimDue(storage), ['run-a'])
      ok((await storage.queue.claim('run-b', OWNER)) !== undefined)
    },
  },
  {
    name: '[RUNS-L18] Due delayed runs are claimed in the order of their times, among those that were submitted',
    async run({ storage, passTime }) {
      const now = await storeNow(storage)
      await createRun(storage, 'run-c', { startAt: now + SOON_MS + 500 })
      await createRun(storage, 'run-b', { startAt: now + SOON_MS })
      await createRun(storage, 'run-a')
      await passTime(SOON_MS + 1_500)
      await createRun(storage, 'run-d')
      assertClaimed(await claimDue(storage), ['run-a', 'run-b', 'run-c', 'run-d'])
    },
  },
  {
    name: '[RUNS-L18] A run that has not begun by its time is found while it is unowned, and a claim says so',
    async run({ storage, passTime }) {
      const startBy = (await storeNow(storage)) + SOON_MS
      await createRun(storage, 'run-a', { startBy })
      await createRun(storage, 'run-b', { startBy: startBy + 1 })
      await createRun(storage, 'run-c', { startBy: startBy + 600_000 })
      const before = await storage.queue.findExpired(10)
      deepStrictEqual(before.runIds, [])
      ok(before.nextInMs > 0 && before.nextInMs <= SOON_MS)
      const early = await claimRun(storage, 'run-b')
      strictEqual(early.claimed.isExpired ?? false, false)
      await passTime(SOON_MS + 1_000)
      const after = await storage.queue.findExpired(10)
      deepStrictEqual(after.runIds, ['run-a'])
      ok(after.nextInMs > 500_000)
      strictEqual((await claimRun(storage, 'run-a')).claimed.isExpired, true)
      deepStrictEqual((await storage.queue.findExpired(10)).runIds, [])
    },
  },
  {
    name: '[RUNS-L18] A run that has begun never expires, also when another process continues it later',
    async run({ storage, passTime }) {
      const startBy = (await storeNow(storage)) + SOON_MS
      await createRun(storage, 'run-a', { startBy })
      const owner = await claimRun(storage, 'run-a')
      await owner.commit([started])
      await storage.queue.release(owner, { kind: 'ready' })
      await passTime(SOON_MS + 1_000)
      deepStrictEqual(await storage.queue.findExpired(10), { runIds: [], nextInMs: Infinity })
      strictEqual((await claimRun(storage, 'run-a')).claimed.isExpired ?? false, false)
    },
  },
  {
    name: '[RUNS-L18] A limit returns the runs that expired first, and more are reported as due now',
    async run({ storage }) {
      const now = await storeNow(storage)
      await createRun(storage, 'run-b', { startBy: now - 2_000 })
      await createRun(storage, 'run-a', { startBy: now - 3_000 })
      deepStrictEqual(await storage.queue.findExpired(1), { runIds: ['run-a'], nextInMs: 0 })
    },
  },
]
