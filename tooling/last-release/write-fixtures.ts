/**
 * Writes the fixtures of the last release from this checkout: the embedded store, the tables of Postgres, logs with the
 * states that they lead to, and the client as one file. The workflow of a release runs it; between two releases the
 * fixtures do not change.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { runStateAfter } from '@tutti/protocol'
import { connectClient } from '../postgres/connect-client.ts'
import { sqliteRunStorage } from '../../packages/runs/src/index.ts'
import { postgresRunStorage } from '../../packages/runs/src/stores/postgres/index.ts'
import { Rolldown } from 'tsdown'

import { POSTGRES_MIGRATIONS } from '../../packages/runs/src/stores/postgres/schema/migrations.ts'
import { testDatabase } from '../postgres/test-database.ts'
import { storeScenes } from './scenes.ts'

const FIXTURES = new URL('fixtures/', import.meta.url)

await writeEmbeddedStore()
await writePostgres()
await writeClient()

async function writeEmbeddedStore(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tutti-fixtures-'))
  try {
    const logs = await storeScenes(await sqliteRunStorage(folder))
    copyFileSync(join(folder, 'runs.sqlite'), new URL('runs.sqlite', FIXTURES))
    const runs = Object.entries(logs).map(([runId, log]) => ({
      runId,
      log,
      state: runStateAfter(log),
    }))
    write('logs.json', runs)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function writePostgres(): Promise<void> {
  await using database = await testDatabase()
  await storeScenes(await postgresRunStorage({ connectionString: database.url }))
  const client = await connectClient(database.url)
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'tutti'::regnamespace AND relkind = 'r' ORDER BY oid`,
  )
  const tables: Record<string, unknown> = {}
  for (const { name } of rows) {
    const table = await client.query<{ all: unknown }>(
      `SELECT json_agg(t) AS all FROM tutti.${name} AS t`,
    )
    tables[name] = table.rows[0]?.all ?? []
  }
  const sequences = await client.query(
    `SELECT sequencename AS name, last_value AS value FROM pg_sequences
     WHERE schemaname = 'tutti' AND last_value IS NOT NULL`,
  )
  await client.end()
  write('postgres.json', { steps: POSTGRES_MIGRATIONS, tables, sequences: sequences.rows })
}

async function writeClient(): Promise<void> {
  const bundle = await Rolldown.rolldown({
    input: new URL('../../packages/client/src/index.ts', import.meta.url).pathname,
    platform: 'browser',
    resolve: { conditionNames: ['@tutti/source', 'import', 'default'] },
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  await bundle.close()
  writeFileSync(new URL('client.mjs', FIXTURES), output[0].code)
}

function write(name: string, value: unknown): void {
  writeFileSync(new URL(name, FIXTURES), `${JSON.stringify(value)}\n`)
}
