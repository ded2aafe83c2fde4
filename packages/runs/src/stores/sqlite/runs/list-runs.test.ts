import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fakeClock } from '@tutti/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { listStoredRuns } from './list-runs.ts'
import { SqliteStatements } from '../database/statements.ts'
import { createTransaction } from '../database/transaction.ts'
import { openDatabase, type OpenDatabase } from '../database/open-database.ts'

let directory: string
let opened: OpenDatabase

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-list-'))
  opened = openDatabase(directory, 'NORMAL')
})

afterEach(() => {
  opened.close()
  rmSync(directory, { recursive: true })
})

it('A list reads the tasks of the listed runs, and scans no table', () => {
  const { database } = opened
  const prepare = vi.spyOn(database, 'prepare')
  database.exec(
    `INSERT INTO runs (run_id, ensemble, workflow, status, task_count, created_at, tags, cache_key)
     VALUES ('run-a', 'band', 'SEQUENTIAL', 'ACCEPTED', 0, 0, '{}', '"chat-1"')`,
  )
  const runner = new SqliteStatements(database, fakeClock(), createTransaction(database))
  prepare.mockClear()
  const query = { cacheKey: 'chat-1', limit: 1 }
  expect(listStoredRuns(runner, query).runs.map(({ runId }) => runId)).toEqual(['run-a'])
  listStoredRuns(runner, query)
  const statements = prepare.mock.calls.map(([sql]) => sql)
  // One statement counts and one reads the page; both are prepared once.
  expect(statements).toHaveLength(2)
  const steps = statements.flatMap((sql) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail)),
  )
  expect(steps.filter((step) => /^SCAN (runs|tasks|reviews)/.test(step))).toEqual([])
  expect(steps).toContain('SEARCH tasks USING INDEX sqlite_autoindex_tasks_1 (run=?)')
})

it('A list finds rows without reading their long texts', () => {
  const { database } = opened
  // A search in such a table reads the whole row of each comparison.
  const keyed = database.prepare(`SELECT name FROM pragma_table_list WHERE wr = 1 ORDER BY name`)
  expect(keyed.all().map(({ name }) => name)).toEqual(['build_shares', 'secrets'])
})
