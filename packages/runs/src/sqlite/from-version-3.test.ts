import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { TO_OLD_LOG_TABLES } from '../../test/old-log-tables.ts'
import { result, token } from '../testing/event-fixtures.ts'
import { newRun, queued } from '../testing/index.ts'
import { createRun } from '../testing/run-fixtures.ts'
import { readEverything, goOnAs, keepRunsInFlight } from '../testing/runs-in-flight.ts'
import { SQLITE_MIGRATIONS } from './migrations.ts'
import { sqliteRunStorage } from './sqlite-run-storage.ts'

/** Removes the additions of later versions. */
const TO_VERSION_3 = `${TO_OLD_LOG_TABLES}
  DROP TABLE builds; DROP TABLE build_shares; DROP TABLE manifests; DROP INDEX runs_waiting_for_build;
  ALTER TABLE runs DROP COLUMN build; ALTER TABLE runs DROP COLUMN code;
  DROP TABLE thread_runs;
  DROP TABLE threads;
  ALTER TABLE runs DROP COLUMN thread_id;
  DROP TABLE memories;
  DROP TABLE reflections;
  ALTER TABLE tasks DROP COLUMN finish_reason;
  DROP TABLE secrets;
  DROP TABLE run_texts;
  DROP TABLE deliveries;
  DROP TABLE audit;
  DROP INDEX runs_suspected; DROP INDEX runs_cached; DROP INDEX runs_released;
  ALTER TABLE runs DROP COLUMN claimed_at; ALTER TABLE reviews DROP COLUMN kind;
  ALTER TABLE runs DROP COLUMN cache_key;
  DROP INDEX runs_spent;
  DROP INDEX runs_of_actor;
  ALTER TABLE runs DROP COLUMN request;
  ALTER TABLE runs DROP COLUMN actor;
  ALTER TABLE runs DROP COLUMN webhooks;
  ALTER TABLE runs DROP COLUMN cost_usd;
  ALTER TABLE runs DROP COLUMN waiting;
  DROP TABLE trimmed_steps; ALTER TABLE runs DROP COLUMN parent; ALTER TABLE runs DROP COLUMN fixed;
  ALTER TABLE runs DROP COLUMN token;
  PRAGMA user_version = 3`

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tutti-version-3-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

describe('a store of version 3', () => {
  it('is created by the first three migration steps', async () => {
    await sqliteRunStorage(directory)[Symbol.asyncDispose]()
    const made = new DatabaseSync(':memory:')
    made.exec(SQLITE_MIGRATIONS.slice(0, 3).join(';'))
    const database = openFile()
    database.exec(TO_VERSION_3)
    expect(readSchema(database)).toEqual(readSchema(made))
    database.close()
    made.close()
  })

  it('retains all data, and its runs in flight continue', async () => {
    let owner
    let before
    {
      await using storage = sqliteRunStorage(directory)
      owner = await keepRunsInFlight(storage)
      before = await readEverything(storage)
    }
    downgrade()
    await using storage = sqliteRunStorage(directory)
    expect(await readEverything(storage)).toEqual(before)
    const present = await goOnAs(owner, storage, 1)
    expect((await present.commit([token('x')])).kind).toBe('written')
    expect((await present.commit([result('run-owned')])).kind).toBe('written')
    const again = newRun('run-z', { submission: { idempotencyKey: 'key', fingerprint: 'print' } })
    const how = { firstEvent: queued(again), maxUnfinishedRuns: 9 }
    expect((await storage.runs.create(again, how)).kind).toBe('repeated')
    expect(await storage.outbox.claim({ limit: 9, claimMs: 1 })).toEqual([])
    expect(await storage.audit.list({ limit: 9 })).toEqual([])
  })

  it('accepts runs with an actor and webhooks, and counts no earlier run for the actor', async () => {
    {
      await using storage = sqliteRunStorage(directory)
      await keepRunsInFlight(storage)
    }
    downgrade()
    await using storage = sqliteRunStorage(directory)
    const run = newRun('run-a', { actor: 'ci', webhooks: ['hook'] })
    const quota = { actor: 'ci', maxUnfinishedRuns: 1, spend: { maxCostUsd: 0.1, since: 0 } }
    await storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 9, quota })
    const again = newRun('run-b', { actor: 'ci' })
    await expect(
      storage.runs.create(again, { firstEvent: queued(again), maxUnfinishedRuns: 9, quota }),
    ).rejects.toMatchObject({ code: 'CONCURRENCY_LIMIT' })
    expect(await storage.runs.delete('run-ended')).toBe('deleted')
    expect(await storage.runs.delete('run-parked')).toBe('unfinished')
    await createRun(storage, 'run-c')
  })
})

describe('the newest version', () => {
  it.for([
    [`actor = ? AND state <> 'ended'`, 'runs_of_actor'],
    [`actor = ? AND state <> 'ended' AND created_at >= 5`, 'runs_of_actor'],
    [`actor = ? AND state = 'ended' AND created_at >= 5`, 'COVERING INDEX runs_spent'],
  ] as const)('finds the runs with %s by an index', async ([where, index]) => {
    await sqliteRunStorage(directory)[Symbol.asyncDispose]()
    const database = openFile()
    const plan = database.prepare(
      `EXPLAIN QUERY PLAN SELECT total(cost_usd) FROM runs WHERE ${where}`,
    )
    const details = plan.all('"ci"')
    database.close()
    expect(JSON.stringify(details)).toContain(`${index} (actor=`)
  })
})

function openFile(): DatabaseSync {
  return new DatabaseSync(join(directory, 'runs.sqlite'))
}

function downgrade(): void {
  const database = openFile()
  database.exec(TO_VERSION_3)
  database.close()
}

/** Returns the columns of all tables, and the names of all other objects. */
function readSchema(database: DatabaseSync): unknown {
  const made = database
    .prepare(`SELECT type, name FROM sqlite_master WHERE name <> 'sqlite_sequence' ORDER BY name`)
    .all()
  const columns = database
    .prepare(
      `SELECT tables.name AS place, columns.name, columns.type, "notnull", dflt_value, pk
       FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name <> 'sqlite_sequence' ORDER BY 1, 2`,
    )
    .all()
  return { made, columns }
}
