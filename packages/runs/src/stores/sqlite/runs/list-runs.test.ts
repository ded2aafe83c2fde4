import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { prepareRunLister } from './list-runs.ts'
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
  const list = prepareRunLister(database)
  const query = { cacheKey: 'chat-1', limit: 1 }
  expect(list(query)).toEqual({ runs: [], total: 0, isCapped: false })
  list(query)
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
