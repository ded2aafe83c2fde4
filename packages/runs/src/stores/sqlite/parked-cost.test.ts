/** Plans of the statements that run while many runs are parked: none may read all of them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { PERSON_REVIEW_KINDS } from '@tutti/protocol/internal'
import { fakeClock } from '@tutti/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { queued, result, reviewRequested } from '../../testing/support/event-fixtures.ts'
import { newRun, ownedRun } from '../../testing/support/run-fixtures.ts'
import { OwnedRuns } from '../shared/log/owned-runs.ts'
import { sqliteRunStorage } from './run-storage.ts'
import { openDatabase } from './database/open-database.ts'
import { WritePositions } from './write-positions.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-parked-'))
})

afterEach(() => {
  vi.restoreAllMocks()
  rmSync(directory, { recursive: true })
})

/** Returns the plans of the statements that `work` prepares, by statement. */
async function plansOf(
  work: (storage: Awaited<ReturnType<typeof sqliteRunStorage>>) => Promise<unknown>,
): Promise<readonly { readonly sql: string; readonly plan: string }[]> {
  const { DatabaseSync } = await import('node:sqlite')
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
  {
    await using storage = await sqliteRunStorage(directory, {
      clock: fakeClock(),
      ownThread: false,
    })
    prepare.mockClear()
    await work(storage)
  }
  const texts = prepare.mock.calls.map(([sql]) => sql)
  vi.restoreAllMocks()
  const { database, close } = openDatabase(directory, 'NORMAL')
  const plans = texts.map((sql) => ({
    sql,
    plan: database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; '),
  }))
  close()
  return plans
}

it('[RUNS-L4] A claim searches each class of due runs in an index that has no other runs', async () => {
  // A ready run makes a claim look for all of them.
  const opened = openDatabase(directory, 'NORMAL')
  opened.database.exec(`INSERT INTO runs
    (run_id, ensemble, workflow, state, status, task_count, created_at, due_at, tags)
    VALUES ('run-1', 'band', 'SEQUENTIAL', 'parked', 'PENDING', 1, 0, 0, '{}')`)
  opened.close()
  const plans = await plansOf((storage) =>
    storage.dispatcher.take({ owner: 'a', leaseMs: 1_000, wanted: 5, maxConcurrentRuns: 5 }),
  )
  const [toWake, toStart] = plans.filter(({ sql }) => /^SELECT (id|\*).*'parked' AND/s.test(sql))
  expect(toWake?.plan).toBe('SEARCH runs USING INDEX runs_to_wake (due_at<?)')
  const released = plans.filter(({ sql }) => /^SELECT id.*'ready' AND epoch > 0/s.test(sql))
  expect(released.map(({ plan }) => plan)).toEqual(['SCAN runs USING INDEX runs_released'])
  const suspected = plans.filter(({ sql }) => /^SELECT id.*lost_owners > 0/s.test(sql))
  expect(suspected.map(({ plan }) => plan)).toEqual([
    'SEARCH runs USING INDEX runs_suspected (due_at<?)',
  ])
  const searches = toStart?.plan.split('; ').filter((step) => step.includes(' runs '))
  expect(new Set(searches)).toEqual(
    new Set(['SEARCH runs USING INDEX runs_to_start (<expr>=? AND due_at<?)']),
  )
})

it('[RUNS-L18] A search for expired runs reads only runs with a time by which they start', async () => {
  const plans = await plansOf((storage) => storage.queue.findExpired(20))
  expect(plans.map(({ plan }) => plan)).toEqual([
    'SEARCH runs USING INDEX runs_to_expire (start_by>?)',
  ])
})

it.for([[undefined], [[{ name: 'payment', key: 'order-1' }]]])(
  '[RUNS-EV9] Pairing events with waits reads no delivered events (of %o)',
  async ([addresses]) => {
    const plans = await plansOf((storage) => storage.externalEvents.assign(0, addresses))
    const reads = plans.map(({ plan }) => plan).filter((plan) => plan.includes('external_events'))
    expect(reads).toHaveLength(2)
    expect(
      reads.filter((plan) => /SCAN external_events(?! USING INDEX)|SCAN waits/.test(plan)),
    ).toEqual([])
  },
)

it('[RUNS-EV5] The shares of senders are counted in indexes that have free events only', async () => {
  const plans = await plansOf((storage) =>
    storage.externalEvents.add({ id: 'a', name: 'payment', data: '1', sender: 'ci' }, 9),
  )
  const plan = plans.find(({ sql }) => sql.includes('INSERT INTO'))?.plan ?? ''
  const reads = plan.split('; ').filter((step) => step.includes(' external_events '))
  expect(reads).toEqual([
    'SCAN external_events USING COVERING INDEX external_events_by_sender',
    'SEARCH external_events USING COVERING INDEX external_events_by_sender (sender=? AND outcome=? AND run=?)',
  ])
})

it('[RUNS-EV9] A review that opens or closes reads the reviews of its run only', () => {
  const { database, close } = openDatabase(directory, 'NORMAL')
  const triggers = database
    .prepare(`SELECT sql FROM sqlite_schema WHERE name IN ('open_review', 'close_review')`)
    .all()
  const plans = triggers.map(({ sql }) => {
    const [query = ''] = /SELECT min\(opened_at\)[^)]*/.exec(String(sql)) ?? []
    return database
      .prepare(`EXPLAIN QUERY PLAN ${query.replace('NEW.run', '1')}`)
      .all()
      .map(({ detail }) => String(detail))
  })
  close()
  expect(plans).toEqual([[OF_RUN], [OF_RUN]])
})

it('[RUNS-EV9] The end of a run and the list of its open reviews read the reviews of the run only', async () => {
  const plans = await plansOf(async (storage) => {
    const owner = await ownedRun(storage, 'run-1')
    await owner.commit([reviewRequested('review-1')])
    await storage.runs.reviews({ runId: 'run-1', open: true })
    await owner.commit([result('run-1')])
  })
  const all = plans.filter(({ plan }) => plan.includes('reviews_open'))
  expect(all.map(({ sql }) => sql)).toEqual([])
  expect(plans.filter(({ sql }) => sql.includes("'WITHDRAWN'"))).toHaveLength(1)
})

it('[RUNS-L5] A process remembers nothing of a run that it has parked', async () => {
  const known = new Set<string>()
  vi.spyOn(OwnedRuns.prototype, 'remember').mockImplementation(({ row }) =>
    known.add(row.run.runId),
  )
  vi.spyOn(OwnedRuns.prototype, 'forget').mockImplementation((runId) => known.delete(runId))
  await using storage = await sqliteRunStorage(directory, { clock: fakeClock(), ownThread: false })
  const owner = await ownedRun(storage, 'run-1')
  expect([...known]).toEqual(['run-1'])
  await storage.queue.release(owner, { kind: 'parked', wakeInMs: 1_000 })
  expect([...known]).toEqual([])
})

it('[RUNS-L5] The thread of a caller remembers nothing of a run that it has parked', async () => {
  const released = vi.spyOn(WritePositions.prototype, 'released')
  await using storage = await sqliteRunStorage(directory, { clock: fakeClock(), ownThread: false })
  for (const runId of ['run-1', 'run-2']) {
    const owner = await ownedRun(storage, runId)
    await owner.commit([reviewRequested('review-1')])
    await storage.queue.release(owner, { kind: 'parked' })
  }
  // NOTE: all calls have the one object of the store.
  const [positions] = released.mock.contexts as WritePositions[]
  expect(positions?.size).toBe(0)
})

it('[RUNS-L19] The load, the metrics, the builds and the quota of an actor read no parked runs', async () => {
  const plans = await plansOf(async (storage) => {
    await storage.queue.load()
    await storage.queue.metrics()
    await storage.builds.list()
    await storage.runs.countReviews({ open: true, kinds: PERSON_REVIEW_KINDS })
    const run = newRun('run-1', { actor: 'ci', startAt: 1e6 })
    const quota = { actor: 'ci', maxUnfinishedRuns: 9 }
    await storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 9, quota })
  })
  const counts = plans.filter(({ sql }) => /count\(|sum\(/.test(sql))
  expect(counts).toHaveLength(6)
  // Only the states of runs that have or await an owner are searched.
  const reads = counts
    .flatMap(({ plan }) => plan.split('; '))
    .filter((step) => / runs\b/.test(step))
  expect(new Set(reads)).toEqual(
    new Set([
      'SEARCH runs USING INDEX runs_by_state (state=?)',
      'SEARCH runs USING COVERING INDEX runs_by_state (state=?)',
    ]),
  )
  expect(counts.filter(({ plan }) => plan.includes('reviews'))).toEqual([])
})

it('[RUNS-L19] An inbox reads the reviews of its page, and each kind in order', async () => {
  const plans = await plansOf((storage) =>
    storage.runs.reviews({ open: true, kinds: ['QUESTION', 'TOOL_CALL'], limit: 9 }),
  )
  const plan = plans.find(({ sql }) => sql.includes('JOIN runs'))?.plan ?? ''
  const reads = plan.split('; ').filter((step) => step.includes('reviews'))
  expect(reads).toEqual([
    'SEARCH reviews USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH reviews USING COVERING INDEX reviews_open (kind=?)',
    'SEARCH reviews USING COVERING INDEX reviews_open (kind=?)',
  ])
})

it('[RUNS-L19] An event for one run reads the waits of this run only', async () => {
  const plans = await plansOf((storage) =>
    storage.externalEvents.assign(0, [{ name: 'payment', key: 'order-1' }]),
  )
  const plan = plans.find(({ sql }) => sql.includes('wanted_run'))?.plan ?? ''
  const reads = plan.split('; ').filter((step) => step.includes(' waits '))
  expect(reads).toEqual([
    'SEARCH waits USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH waits USING INDEX waits_by_address (address=?)',
    'SEARCH waits USING INDEX sqlite_autoindex_waits_1 (run=?)',
  ])
})

it('[RUNS-L19] A search for stranded runs reads one due run of each claim key, and those that are stranded', async () => {
  const query = { codes: { band: 'code-1' }, limit: 9, includesHeld: false }
  const plans = await plansOf((storage) => storage.builds.findStranded(query))
  const plan = plans.find(({ sql }) => sql.includes('RECURSIVE'))?.plan ?? ''
  const reads = plan.split('; ').filter((step) => / runs\b|ORDER BY/.test(step))
  expect(reads).toEqual([
    // A scan that ends at the first run.
    'SCAN runs USING INDEX runs_by_code',
    'SEARCH runs USING INDEX runs_by_code (<expr>>?)',
    'SEARCH runs USING INDEX runs_by_code (<expr>=? AND due_at>? AND due_at<?)',
  ])
})

it('[RUNS-L19] A search for stranded runs reads only held runs whose code the process has', async () => {
  const query = { codes: { band: 'code-1' }, limit: 9, includesHeld: false }
  const plans = await plansOf((storage) => storage.builds.findStranded(query))
  const plan = plans.find(({ sql }) => sql.includes('WAITING_FOR_BUILD'))?.plan ?? ''
  expect(plan).toMatch(/^SEARCH runs USING INDEX runs_waiting_for_build \(<expr>=\?\)/)
})

it('[RUNS-L19] A list of changed runs reads a page of the parked runs of each status', async () => {
  const query = {
    ensembles: ['band'],
    statuses: ['WAITING_REVIEW', 'COMPLETED'],
    limit: 9,
  } as const
  const plans = await plansOf((storage) => storage.runs.listByChange(query))
  const reads = plans.flatMap(({ plan }) => plan.split('; ')).filter((step) => / runs\b/.test(step))
  expect(new Set(reads)).toEqual(
    new Set([
      'SEARCH runs USING INDEX runs_by_change (ensemble=? AND status=?)',
      'SEARCH runs USING INDEX runs_by_state (state=?)',
    ]),
  )
})

const OF_RUN = 'SEARCH reviews USING INDEX sqlite_autoindex_reviews_1 (run=?)'
