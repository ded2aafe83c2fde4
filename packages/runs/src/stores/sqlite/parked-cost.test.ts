/** Plans of the statements that run while many runs are parked: none may read all of them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fakeClock } from '@tutti/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { result, reviewRequested } from '../../testing/support/event-fixtures.ts'
import { ownedRun } from '../../testing/support/run-fixtures.ts'
import { OwnedRuns } from '../shared/log/owned-runs.ts'
import { sqliteRunStorage } from './run-storage.ts'
import { openDatabase } from './database/open-database.ts'

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

it('[RUNS-L4] A claim reads neither the due runs that start to find those that wake, nor the reverse', async () => {
  // A ready run makes a claim look for all of them.
  const opened = openDatabase(directory, 'NORMAL')
  opened.database.exec(`INSERT INTO runs
    (run_id, ensemble, workflow, state, status, task_count, created_at, due_at, tags)
    VALUES ('run-1', 'band', 'SEQUENTIAL', 'parked', 'PENDING', 1, 0, 0, '{}')`)
  opened.close()
  const plans = await plansOf((storage) =>
    storage.dispatcher.take({ owner: 'a', leaseMs: 1_000, wanted: 5, maxConcurrentRuns: 5 }),
  )
  const parked = plans.filter(({ sql }) => /^SELECT id, due_at.*'parked' AND due_at/s.test(sql))
  expect(parked.map(({ plan }) => plan)).toEqual([
    'SEARCH runs USING INDEX runs_to_wake (due_at<?)',
    'SEARCH runs USING COVERING INDEX runs_to_start (due_at<?)',
  ])
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
  const all = plans.filter(({ plan }) => plan.includes('reviews_by_status'))
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

const OF_RUN = 'SEARCH reviews USING INDEX sqlite_autoindex_reviews_1 (run=?)'
