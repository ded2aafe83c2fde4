import { describe, expect, it } from 'vitest'

import { connectClient } from '../../../../../../tooling/postgres/connect-client.ts'
import { token } from '../../../testing/support/event-fixtures.ts'
import { claimDue, createRun, ownedRun } from '../../../testing/support/run-fixtures.ts'
import { Database } from '../database/database.ts'
import { postgresRunStorage } from '../index.ts'
import { migratePostgres, POSTGRES_MIGRATIONS, type MigrationStep } from './migrations.ts'
import { resolvePostgresRunStorageOptions } from '../database/options.ts'
import { ownDatabase } from '../../../../test/own-database.ts'

const database = ownDatabase()

describe('opening', () => {
  it('[RUNS-D4] Several processes that open the store at once create its tables once', async () => {
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

  it('[RUNS-D3] A process of the previous version continues when the tables change', async () => {
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

  it('[RUNS-D4] A store refuses a newer schema, names both versions and leaves it unchanged', async () => {
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

  it('Stores of different schemas in one database are independent', async () => {
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

  it('A user who may only use the tables can open the store', async () => {
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
  ] as const)(
    'The store reports a wrong %s with its host, without the password',
    async ([part, reason]) => {
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
    },
  )

  it('The store reports a wrong address for LISTEN as well', async () => {
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
  it('[RUNS-D6] A migration lets writers continue while an index waits for a transaction, and repeats an interrupted one', async () => {
    const { client } = database
    await migrate('online', POSTGRES_MIGRATIONS)
    // What is left of an interrupted attempt: an invalid index of that name.
    await client.query('CREATE INDEX texts_by_start ON online.run_texts (run)')
    await insertRun('online', 'run-a')
    const writer = await connectClient(database.url)
    await writer.query(
      `BEGIN; UPDATE online.runs SET error = 'x'; UPDATE online.run_texts SET text = 'x'`,
    )
    const steps = [
      ...POSTGRES_MIGRATIONS,
      { indexes: { texts_by_start: 'run_texts (left(text, 9))', runs_by_status: null } },
    ]
    const migrating = migrate('online', steps)
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
    await migrating
    expect(await readIndexes('online', ['texts_by_start', 'runs_by_status'])).toEqual([
      { name: 'texts_by_start', is_valid: true, expression: '"left"(text, 9)' },
    ])
  })

  it('[RUNS-D6] A step that waits for a table lets the writers behind it continue', async () => {
    const { client } = database
    await migrate('blocked', POSTGRES_MIGRATIONS)
    const reader = await connectClient(database.url)
    await reader.query('BEGIN; SELECT FROM blocked.run_texts')
    const steps = [...POSTGRES_MIGRATIONS, 'ALTER TABLE $schema.run_texts ADD COLUMN later text']
    const migrating = migrate('blocked', steps)
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
    await migrating
    const { rows } = await client.query('SELECT later FROM blocked.run_texts')
    expect(rows).toEqual([{ later: null }])
  })

  it('[RUNS-D4] A new schema has all steps, and an older one gets those that it lacks, in order', async () => {
    const later = [
      'CREATE TABLE $schema.later (n integer)',
      'INSERT INTO $schema.later VALUES (1)',
      { indexes: { later_by_n: 'later (n)' } },
    ]
    const steps = [...POSTGRES_MIGRATIONS, ...later]
    await migrate('fresh', steps)
    await migrate('stale', POSTGRES_MIGRATIONS)
    await migrate('stale', steps)
    for (const schema of ['fresh', 'stale']) {
      const { rows } = await database.client.query(
        `SELECT n, version FROM ${schema}.later, ${schema}.schema_version`,
      )
      expect(rows).toEqual([{ n: 1, version: steps.length }])
      expect(await readIndexes(schema, ['later_by_n'])).toMatchObject([{ is_valid: true }])
    }
  })
})

async function migrate(schema: string, steps: readonly MigrationStep[]): Promise<void> {
  const settings = resolvePostgresRunStorageOptions({ connectionString: database.url, schema })
  const { queryLimitMs: _, ...options } = settings
  const connections = new Database({ ...options, onLost: () => undefined })
  try {
    await migratePostgres(connections, settings, steps)
  } finally {
    await connections.close()
  }
}

async function readIndexes(schema: string, names: readonly string[]): Promise<readonly unknown[]> {
  const { rows } = await database.client.query(
    `SELECT relname AS name, indisvalid AS is_valid, pg_get_indexdef(oid, 1, true) AS expression
     FROM pg_class JOIN pg_index ON indexrelid = oid
     WHERE relnamespace = $1::regnamespace AND relname = ANY($2) ORDER BY 1`,
    [schema, names],
  )
  return rows
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
