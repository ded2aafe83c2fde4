import { Client } from 'pg'
import { describe, expect, it } from 'vitest'

import { token } from '../testing/event-fixtures.ts'
import { claimDue, createRun, ownedRun } from '../testing/run-fixtures.ts'
import { postgresRunStorage } from './index.ts'
import { POSTGRES_MIGRATIONS } from './migrations.ts'
import { ownDatabase } from '../../test/own-database.ts'

const database = ownDatabase()

describe('opening', () => {
  it('[RUNS-D4] several processes that open the store at once create its tables once', async () => {
    const storages = await Promise.all(
      Array.from({ length: 8 }, () =>
        postgresRunStorage({ connectionString: database.url, schema: 'eight', maxConnections: 3 }),
      ),
    )
    const { rows } = await database.client.query('SELECT version FROM eight.schema_version')
    expect(rows).toEqual([{ version: POSTGRES_MIGRATIONS.length }])
    for (const storage of storages) expect(await storage.queue.load()).toMatchObject({ queued: 0 })
    await Promise.all(storages.map((storage) => storage[Symbol.asyncDispose]()))
  })

  it('[RUNS-D3] a process of the previous version continues when the tables change', async () => {
    const settings = { connectionString: database.url, schema: 'rolling', maxConnections: 4 }
    await using storage = await postgresRunStorage(settings)
    const owner = await ownedRun(storage, 'run-a')
    const busy = Array.from({ length: 8 }, () => storage.runs.get('run-a'))
    await Promise.all(busy)
    await database.client.query('ALTER TABLE rolling.runs ADD COLUMN later text')
    await database.client.query('ALTER TABLE rolling.tasks ADD COLUMN later text')
    expect(await storage.runs.get('run-a')).toMatchObject({ runId: 'run-a' })
    expect((await owner.commit([token('a')])).kind).toBe('written')
    expect(await storage.queue.release(owner, { kind: 'ready' })).toBe('ready')
    expect(storage.isAvailable).toBe(true)
  })

  it('[RUNS-D4] refuses a newer schema, names both versions and leaves it unchanged', async () => {
    await using _ = await postgresRunStorage({ connectionString: database.url, schema: 'newer' })
    await database.client.query('UPDATE newer.schema_version SET version = 99')
    await expect(
      postgresRunStorage({ connectionString: database.url, schema: 'newer' }),
    ).rejects.toMatchObject({
      code: 'SCHEMA_TOO_NEW',
      message: expect.stringMatching(
        new RegExp(`version 99.*version ${POSTGRES_MIGRATIONS.length}`),
      ),
    })
    const { rows } = await database.client.query('SELECT version FROM newer.schema_version')
    expect(rows).toEqual([{ version: 99 }])
  })

  it('stores of different schemas in one database are independent', async () => {
    const open = (schema: string) => postgresRunStorage({ connectionString: database.url, schema })
    await using a = await open('With "Quotes" $1 ä')
    await using b = await open('other')
    const recorded: string[] = []
    b.listen(({ kind }) => recorded.push(kind))
    await createRun(a, 'run-a')
    expect(await b.runs.get('run-a')).toBeUndefined()
    await claimDue(b)
    await createRun(b, 'run-a')
    expect(recorded).toEqual(['ready'])
  })

  it('a user who may only use the tables can open the store', async () => {
    await using _ = await postgresRunStorage({ connectionString: database.url, schema: 'lent' })
    await database.client.query(`CREATE ROLE borrower LOGIN PASSWORD 'pw-borrower'`)
    await database.client.query('GRANT USAGE ON SCHEMA lent TO borrower')
    await database.client.query('GRANT ALL ON ALL TABLES IN SCHEMA lent TO borrower')
    const url = new URL(database.url)
    url.username = 'borrower'
    url.password = 'pw-borrower'
    await using lent = await postgresRunStorage({ connectionString: url.href, schema: 'lent' })
    await createRun(lent, 'run-a')
    await lent[Symbol.asyncDispose]()
    await database.client.query('DROP OWNED BY borrower; DROP ROLE borrower')
  })

  it.for([
    ['password', /password authentication failed/],
    ['pathname', /database "nowhere" does not exist/],
    ['port', /ECONNREFUSED/],
    ['hostname', /ENOTFOUND|EAI_AGAIN/],
  ] as const)('reports a wrong %s with its host, without the password', async ([part, reason]) => {
    const wrong = {
      password: 'not-it',
      pathname: '/nowhere',
      port: '1',
      hostname: 'nowhere.invalid',
    }
    const url = new URL(database.url)
    url[part] = wrong[part]
    const error: unknown = await postgresRunStorage({ connectionString: url.href }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
      message: expect.stringMatching(reason),
    })
    expect(String(error)).toContain(`${url.hostname}:${url.port}${url.pathname}`)
    expect(JSON.stringify(error) + String(error)).not.toContain(url.password)
  })

  it('reports a wrong address for LISTEN as well', async () => {
    const url = new URL(database.url)
    url.port = '1'
    const opening = postgresRunStorage({
      connectionString: database.url,
      listenConnectionString: url.href,
    })
    await expect(opening).rejects.toThrow(/127\.0\.0\.1:1\/.*ECONNREFUSED/)
  })
})

describe('migrating a store in use', () => {
  const indexed = POSTGRES_MIGRATIONS.findIndex((step) => typeof step !== 'string')

  it('[RUNS-D6] lets writers continue while an index waits for a transaction, and repeats an interrupted one', async () => {
    const { client } = database
    await createVersion('online', indexed)
    // What is left of an attempt that was interrupted: an index of that name that is of no use.
    await client.query('CREATE INDEX run_texts_by_gram ON online.run_texts (run)')
    await insertRun('online', 'run-a')
    const writer = new Client(database.url)
    await writer.connect()
    await writer.query(
      `BEGIN; UPDATE online.runs SET error = 'x'; UPDATE online.run_texts SET text = 'x'`,
    )
    const opening = postgresRunStorage({ connectionString: database.url, schema: 'online' })
    await expect
      .poll(async () => {
        const { rows } = await client.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE query LIKE '%INDEX CONCURRENTLY%' AND pid <> pg_backend_pid()`,
        )
        return rows.length
      })
      .toBeGreaterThan(0)
    await insertRun('online', 'run-b')
    await writer.query('COMMIT')
    await writer.end()
    await using migrated = await opening
    expect(await migrated.runs.list({ text: 'run-', limit: 9 })).toMatchObject({ total: 2 })
    const { rows } = await client.query('SELECT 1 FROM pg_index WHERE NOT indisvalid')
    expect(rows).toEqual([])
  })

  it('[RUNS-D6] a step that waits for a table lets the writers behind it continue', async () => {
    const { client } = database
    await createVersion('blocked', indexed - 1)
    const reader = new Client(database.url)
    await reader.connect()
    await reader.query('BEGIN; SELECT FROM blocked.run_texts')
    const opening = postgresRunStorage({ connectionString: database.url, schema: 'blocked' })
    await expect
      .poll(async () => {
        const { rows } = await client.query(
          `SELECT 1 FROM pg_locks WHERE relation = 'blocked.run_texts'::regclass AND NOT granted`,
        )
        return rows.length
      })
      .toBeGreaterThan(0)
    // The reader keeps its lock, so this returns only because the step releases the table.
    await insertRun('blocked', 'run-a')
    await reader.query('COMMIT')
    await reader.end()
    await using migrated = await opening
    expect(await migrated.runs.list({ limit: 9 })).toMatchObject({ total: 1 })
  })
})

it('[RUNS-P12] a migrated store lists the runs with open reviews by the time at which these opened', async () => {
  const version = POSTGRES_MIGRATIONS.findIndex(
    (step) => typeof step === 'string' && step.includes('COLUMN review_since'),
  )
  await createVersion('asking', version)
  for (const runId of ['run-a', 'run-b']) await insertRun('asking', runId)
  await database.client.query(
    `INSERT INTO asking.reviews (run, review_id, status, request, opened_at)
     SELECT id, opened_at, 'OPEN', '{}', opened_at FROM asking.runs, (VALUES (9), (5)) AS opened (opened_at)
     WHERE run_id = 'run-a'`,
  )
  await using migrated = await postgresRunStorage({
    connectionString: database.url,
    schema: 'asking',
  })
  expect(await migrated.runs.listByChange({ ensembles: ['band'], limit: 9 })).toEqual({
    runs: [
      { runId: 'run-a', changedAt: 5 },
      { runId: 'run-b', changedAt: 0 },
    ],
    total: 2,
  })
})

/** Creates a schema of an earlier version. */
async function createVersion(schema: string, version: number): Promise<void> {
  const { client } = database
  await client.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.schema_version (version integer);
    INSERT INTO ${schema}.schema_version VALUES (${version})`)
  for (const step of POSTGRES_MIGRATIONS.slice(0, version)) {
    if (typeof step === 'string') await client.query(step.replaceAll('$schema', () => schema))
  }
}

async function insertRun(schema: string, runId: string): Promise<void> {
  await database.client.query(
    `WITH run AS (
       INSERT INTO ${schema}.runs (run_id, ensemble, workflow, inputs, tags, tag_index, task_count, created_at)
       VALUES ('${runId}', 'band', 'SEQUENTIAL', '{}', '{}', '{}', 1, 0) RETURNING id
     )
     INSERT INTO ${schema}.run_texts (run, text) SELECT id, '' FROM run`,
  )
}
