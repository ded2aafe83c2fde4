import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fakeClock } from '@tutti/testing'
import { afterAll, beforeAll, beforeEach, expect, it, vi, type MockInstance } from 'vitest'

import { MAX_COUNTED, type ChangedRunsQuery, type RunQuery } from '../../../ports/run-store.ts'
import { listRunsByChange } from './list-changed-runs.ts'
import { listStoredRuns } from './list-runs.ts'
import { toStoredText } from './search-text.ts'
import { SqliteStatements } from '../database/statements.ts'
import { createTransaction } from '../database/transaction.ts'
import { openDatabase, type OpenDatabase } from '../database/open-database.ts'

/** More runs than a list counts; the last ones are not indexed by their text yet. */
const RUNS = MAX_COUNTED + 2_009
/** Number of runs with the status REJECTED, the oldest ones. */
const OLDEST = 11_000

const directory = mkdtempSync(join(tmpdir(), 'tutti-list-'))
let opened: OpenDatabase
let statements: SqliteStatements

beforeAll(() => {
  opened = openDatabase(directory, 'NORMAL')
  const { database } = opened
  database.function('stored_text', (n) =>
    toStoredText({
      runId: `run-${Number(n)}`,
      inputs: { topic: `report ${Number(n) % 1000} of the band` },
      tags: {},
    }),
  )
  database.exec(`BEGIN;
    INSERT INTO runs (run_id, ensemble, workflow, state, status, task_count, created_at, tags, cache_key)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${RUNS})
      SELECT 'run-' || n, iif(n % 100 = 7, 'choir', 'band'), 'SEQUENTIAL', 'ended',
        CASE WHEN n <= ${OLDEST} THEN 'REJECTED' WHEN n % 100 = 5 THEN 'FAILED' ELSE 'COMPLETED' END,
        1, n, '{}', iif(n = 7, '"chat-1"', NULL) FROM numbers;
    INSERT INTO run_tags SELECT '"team"', id FROM runs;
    INSERT INTO run_tags SELECT '"team"="t' || (id % 1000) || '"', id FROM runs;
    INSERT INTO run_texts SELECT id, stored_text(id) FROM runs ORDER BY id;
    INSERT INTO tasks (run, task_index, name, agent_role, description) SELECT id, 1, 'play', '', '' FROM runs;
    COMMIT`)
})

afterAll(() => {
  opened.close()
  rmSync(directory, { recursive: true })
})

let prepare: MockInstance<OpenDatabase['database']['prepare']>

beforeEach(() => {
  const { database } = opened
  statements = new SqliteStatements(database, fakeClock(), createTransaction(database))
  prepare = vi.spyOn(database, 'prepare').mockClear()
})

const CAPPED = MAX_COUNTED + 1

it.for<[string, Partial<RunQuery>, number, scans?: RegExp]>([
  // The newest runs are the first ones of the table itself.
  ['all runs', {}, CAPPED, /^SCAN runs$/],
  ['a tag value of 12 runs', { tag: { key: 'team', value: 't7' } }, 13],
  ['a tag of all runs', { tag: { key: 'team' } }, CAPPED],
  ['a tag of no run', { tag: { key: 'none' } }, 0],
  ['a status', { statuses: ['FAILED'] }, 11],
  ['a status of the oldest runs', { statuses: ['REJECTED'] }, CAPPED],
  ['two statuses', { statuses: ['FAILED', 'COMPLETED'] }, RUNS - OLDEST],
  ['no status', { statuses: [] }, 0],
  ['an ensemble', { ensemble: 'band' }, CAPPED],
  ['an ensemble and a status', { ensemble: 'band', statuses: ['REJECTED'] }, CAPPED],
  ['a cache key', { cacheKey: 'chat-1' }, 1],
  ['a thread', { threadId: 'thread-a' }, 0],
  ['a text of all runs', { text: 'report' }, CAPPED],
  ['a text of 12 runs', { text: 'report 77 of' }, 12],
  ['a text of no run', { text: 'no such text' }, 0],
  ['two characters of no run', { text: 'zz' }, 0],
  ['one character of no run', { text: 'z' }, 0],
  ['one character of 12 texts', { text: '{' }, 0],
  ['the start of ids', { text: 'run-77' }, 111],
  ['a text and a status', { text: 'report', statuses: ['FAILED'] }, 11],
  ['a text and a tag', { text: 'report 7 of', tag: { key: 'team', value: 't7' } }, 13],
  ['a text and a tag of other runs', { text: 'report 7 of', tag: { key: 'team', value: 't8' } }, 0],
  ['a tag and an ensemble', { tag: { key: 'team', value: 't8' }, ensemble: 'choir' }, 0],
  ['a common tag and a cache key', { tag: { key: 'team' }, cacheKey: 'chat-1' }, 1],
])('[RUNS-P13] A list of %s scans no table', ([, query, count, scans]) => {
  const { runs, total, isCapped } = listStoredRuns(statements, { limit: 5, ...query })
  expect([total, isCapped]).toEqual([Math.min(count, MAX_COUNTED), count > MAX_COUNTED])
  expect(runs).toHaveLength(Math.min(count, 5))
  expect(listScans().filter((step) => scans?.test(step) !== true)).toEqual([])
})

it('[RUNS-P13] A text of two characters of more runs than are counted is searched from the newest run on', () => {
  const { runs, isCapped } = listStoredRuns(statements, { limit: 2, text: 'of' })
  expect([isCapped, runs.map(({ runId }) => runId)]).toEqual([
    true,
    [`run-${RUNS}`, `run-${RUNS - 1}`],
  ])
})

it.for<[string, Partial<ChangedRunsQuery>, number]>([
  ['all runs', {}, MAX_COUNTED],
  ['a status', { statuses: ['FAILED', 'FAILED'] }, 11],
  ['runs that do not wait for a review', { awaitsReview: false }, MAX_COUNTED],
  ['runs that changed since an instant', { since: RUNS - 99 }, 100],
  ['a group', { group: { tag: 'team', value: 't7' } }, 13],
])(
  '[RUNS-P13] A list by change of %s scans no table and sorts no ended runs',
  ([, query, total]) => {
    const page = listRunsByChange(statements, { ensembles: ['band', 'choir'], limit: 3, ...query })
    expect([page.total, page.runs.length]).toEqual([total, 3])
    expect(listScans()).toEqual([])
    const plans = listPlans().map((steps) => steps.join('; '))
    const ended = plans.filter((plan) => plan.includes('runs_by_change'))
    expect(ended.length > 0).toBe(query.group === undefined)
    expect(ended.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([])
  },
)

it('[RUNS-P12] A page after the counted runs continues the list', () => {
  const offset = MAX_COUNTED - 1
  const { runs } = listStoredRuns(statements, { limit: 4, offset, tag: { key: 'team' } })
  const expected = [1, 2, 3, 4].map((at) => `run-${RUNS - offset - at + 1}`)
  expect(runs.map(({ runId }) => runId)).toEqual(expected)
  const older = listStoredRuns(statements, { limit: 4, before: 4, text: 'report' })
  expect(older.runs.map(({ runId }) => runId)).toEqual(['run-3', 'run-2', 'run-1'])
})

it('A list prepares its statements once and reads the tasks of the listed runs', () => {
  const query = { cacheKey: 'chat-1', limit: 1 }
  expect(listStoredRuns(statements, query).runs.map(({ runId }) => runId)).toEqual(['run-7'])
  listStoredRuns(statements, query)
  // One statement finds the ids and one reads the page.
  expect(prepare.mock.calls).toHaveLength(2)
  expect(listPlan()).toContain('SEARCH tasks USING INDEX sqlite_autoindex_tasks_1 (run=?)')
})

it('A list finds rows without reading their long texts', () => {
  // A search in such a table reads the whole row of each comparison.
  const keyed = opened.database.prepare(
    `SELECT name FROM pragma_table_list WHERE wr = 1 AND name NOT LIKE 'run_index%' ORDER BY name`,
  )
  expect(keyed.all().map(({ name }) => name)).toEqual([
    'build_shares',
    'parked_totals',
    'run_tags',
    'secrets',
    'thread_tags',
    'totals',
  ])
})

/** Returns the steps of the plans of all prepared statements. */
function listPlan(): readonly string[] {
  return listPlans().flat()
}

/** Returns the steps of each prepared statement. */
function listPlans(): readonly (readonly string[])[] {
  const texts = prepare.mock.calls.map(([sql]) => sql).filter((sql) => !sql.startsWith('EXPLAIN'))
  expect(texts.length).toBeGreaterThan(0)
  return texts.map((sql) =>
    opened.database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail)),
  )
}

/** Returns the steps that read a whole table or index, other than the index of long texts. */
function listScans(): readonly string[] {
  return listPlan().filter((step) =>
    /^SCAN (?:runs|run_texts|run_tags|thread_runs|tasks|reviews|one)\b(?! USING INDEX run_texts_not_indexed)/.test(
      step,
    ),
  )
}
