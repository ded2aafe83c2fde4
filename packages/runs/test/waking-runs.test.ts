/** Many parked runs that become due at the same time. */
import { ensemble, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage, type RunService } from '@tutti/runs'
import { fakeClock } from '@tutti/testing'
import { afterEach, expect, it, vi } from 'vitest'

import { SqliteStatements } from '../src/stores/sqlite/database/statements.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

import type { RunStorage } from '@tutti/runs/adapter'

const RUNS = 200
const SLOTS = 4
const PARKED_MS = 3_600_000

const team = ensemble({
  name: 'waker',
  tasks: [
    task({
      name: 'wait',
      description: 'Wait {for}',
      async handler({ inputs, sleep }) {
        if (inputs['for'] === 'sleep') await sleep(PARKED_MS)
        return 'done'
      },
    }),
  ],
})

async function setUp(path: string) {
  const clock = fakeClock()
  const storage = await sqliteRunStorage(path, { clock, ownThread: false })
  const executing = { now: 0, most: 0 }
  const service = createRunService(storage, [team], {
    clock,
    maxConcurrentRuns: SLOTS,
    maxQueuedRuns: RUNS,
    onActivity: [
      ({ kind }) => {
        if (kind === 'claimed') executing.now += 1
        if (kind === 'released') executing.now -= 1
        executing.most = Math.max(executing.most, executing.now)
      },
    ],
  })
  await service.start()
  return { clock, storage, service, executing }
}

afterEach(() => vi.restoreAllMocks())

it('[RUNS-L20] Runs that become due at the same time are claimed as slots become free', async () => {
  using directory = temporaryDirectory()
  const { clock, storage, service, executing } = await setUp(directory.path)
  const take = vi.spyOn(storage.dispatcher, 'take')
  for (let n = 0; n < RUNS; n += 1) {
    const isDelayed = n % 2 === 0
    await service.submit({
      inputs: { for: isDelayed ? 'start' : 'sleep' },
      ...(isDelayed ? { startAfterMs: PARKED_MS } : {}),
    })
  }
  const load = async (): Promise<unknown> => {
    await clock.advance(100)
    return storage.queue.load()
  }
  await expect.poll(load).toMatchObject({ parked: RUNS, running: 0, queued: 0 })
  executing.most = 0
  await clock.advance(PARKED_MS)
  await expect
    .poll(load, { timeout: 30_000 })
    .toEqual({ parked: 0, running: 0, queued: 0, waiting: 0 })
  const { total } = await service.list({ limit: 1, statuses: ['COMPLETED'] })
  expect(total).toBe(RUNS)
  expect(executing.most).toBe(SLOTS)
  const claimed = await Promise.all(take.mock.results.map(({ value }) => value))
  expect(Math.max(...claimed.map((claims) => claims?.length ?? 0))).toBeLessThanOrEqual(SLOTS)
  await service.close({ drainTimeoutMs: 0 })
})

it('[RUNS-L20] A submission, a claim and the load read as many rows while many runs are due as while none is', async () => {
  using directory = temporaryDirectory()
  const { clock, service } = await setUp(directory.path)
  for (let n = 0; n < RUNS; n += 1) {
    await service.submit({ inputs: { for: 'start' }, startAfterMs: PARKED_MS })
  }
  await service.close({ drainTimeoutMs: 0 })
  const storage = await sqliteRunStorage(directory.path, { clock, ownThread: false })
  // It executes no runs, so all stay due.
  const idle = createRunService(storage, [team], { clock, executes: false })
  await idle.start()
  const before = await countReads(idle, storage)
  await clock.advance(PARKED_MS)
  const after = await countReads(idle, storage)
  // Each count has submitted one more.
  expect((await storage.queue.load()).parked).toBe(RUNS + 2 - CLAIMED)
  expect(before.rows).toBeGreaterThan(0)
  // Each claim reads the run again, and its commands.
  expect(after.rows - before.rows).toBeLessThanOrEqual(4 * CLAIMED)
  expect(after.statements - before.statements).toBeLessThanOrEqual(8 * CLAIMED)
  await idle.close({ drainTimeoutMs: 0 })
})

const CLAIMED = 2

/** Counts the statements of a submission, a claim and the load, and the rows that they return. */
async function countReads(service: RunService, storage: RunStorage) {
  const run = vi.spyOn(SqliteStatements.prototype, 'run')
  await service.submit({ inputs: { for: 'nothing' }, startAfterMs: 2 * PARKED_MS })
  await storage.dispatcher.take({
    owner: 'owner-1',
    leaseMs: Infinity,
    wanted: CLAIMED,
    maxConcurrentRuns: SLOTS,
  })
  await service.status.load()
  const rows = run.mock.results.reduce((sum, { value }) => sum + value.length, 0)
  const statements = run.mock.calls.length
  run.mockRestore()
  return { rows, statements }
}
