import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { TO_OLD_LOG_TABLES } from '../../test/old-log-tables.ts'
import { ODD_TEXT } from '../testing/event-fixtures.ts'
import { createRun, endedRun } from '../testing/run-fixtures.ts'
import { sqliteRunStorage } from './sqlite-run-storage.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-version-4-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

describe('a store of version 4', () => {
  it('finds its earlier runs by the values of their inputs and tags', async () => {
    {
      await using storage = sqliteRunStorage(directory)
      await createRun(storage, 'run-1', { inputs: { topic: 'Käse' }, tags: { by: 'Ann' } })
      await endedRun(storage, 'run-2', { inputs: { [ODD_TEXT]: ODD_TEXT }, tags: {} })
      await createRun(storage, 'run-3', { inputs: {}, tags: {} })
    }
    const before = texts()
    expect(before).toHaveLength(3)
    const database = openFile()
    database.exec(`${TO_OLD_LOG_TABLES}
      DROP TABLE builds; DROP TABLE build_shares; DROP TABLE manifests; DROP INDEX runs_waiting_for_build;
  ALTER TABLE runs DROP COLUMN build; ALTER TABLE runs DROP COLUMN code;
  DROP TABLE thread_runs; DROP TABLE threads; ALTER TABLE runs DROP COLUMN thread_id;
      ALTER TABLE tasks DROP COLUMN finish_reason; DROP TABLE memories; DROP TABLE reflections; DROP TABLE secrets; DROP TABLE run_texts; ALTER TABLE runs DROP COLUMN waiting;
      DROP INDEX runs_suspected; DROP INDEX runs_cached; DROP INDEX runs_released;
      ALTER TABLE runs DROP COLUMN claimed_at; ALTER TABLE reviews DROP COLUMN kind;
      ALTER TABLE runs DROP COLUMN cache_key;
      DROP TABLE trimmed_steps; ALTER TABLE runs DROP COLUMN parent; ALTER TABLE runs DROP COLUMN fixed;
      ALTER TABLE runs DROP COLUMN token;
      PRAGMA user_version = 4`)
    database.close()
    await sqliteRunStorage(directory)[Symbol.asyncDispose]()
    expect(texts()).toEqual(before)
    await using storage = sqliteRunStorage(directory)
    const { runs, total } = await storage.runs.list({ text: 'KÄS', limit: 9, offset: 0 })
    expect([runs.map(({ runId }) => runId), total]).toEqual([['run-1'], 1])
  })
})

function openFile(): DatabaseSync {
  return new DatabaseSync(join(directory, 'runs.sqlite'))
}

function texts(): unknown {
  const database = openFile()
  const rows = database.prepare('SELECT * FROM run_texts ORDER BY run').all()
  database.close()
  return rows
}
