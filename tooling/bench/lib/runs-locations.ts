/** Creates a new store for each measurement, described by plain data that can be passed to another process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { testDatabase, testServer, type TestServerOptions } from '../../postgres/test-database.ts'
import { builtPackage } from './built.ts'

import type { RunStorage } from '../../../packages/runs/src/adapter.ts'
import type { PostgresRunStorageOptions } from '../../../packages/runs/src/stores/postgres/index.ts'

type RunsDoor = typeof import('../../../packages/runs/src/index.ts')
type PostgresEntryPoint = typeof import('../../../packages/runs/src/stores/postgres/index.ts')

/** The embedded store of a directory, or a schema of a Postgres database. Plain data. */
export type StoreLocation = { readonly directory: string } | PostgresLocation

/** A schema of a Postgres database. */
export interface PostgresLocation {
  readonly connectionString: string
  readonly schema: string
}

/** Creates stores; disposing removes all of them. */
export interface StoreLocations extends AsyncDisposable {
  /** URL of the stores' Postgres database. */
  readonly url: string
  embedded(): StoreLocation
  postgres(): PostgresLocation
}

/**
 * Creates stores in temporary directories, and in a Postgres database: of a new server, whose commits wait for the disk
 * unless `durable` is false, or of the one of `TUTTI_TEST_DATABASE_URL`.
 */
export async function openLocations({
  durable = true,
  settings = [],
}: TestServerOptions = {}): Promise<StoreLocations> {
  const isGiven = (process.env['TUTTI_TEST_DATABASE_URL'] ?? '') !== ''
  const database = isGiven ? await testDatabase() : await testServer({ durable, settings })
  const root = mkdtempSync(join(tmpdir(), 'tutti-bench-'))
  let count = 0
  const next = (): string => `place_${(count += 1)}`
  return {
    url: database.url,
    embedded: () => ({ directory: join(root, next()) }),
    postgres: () => ({ connectionString: database.url, schema: next() }),
    async [Symbol.asyncDispose]() {
      rmSync(root, { recursive: true, force: true })
      await database[Symbol.asyncDispose]()
    },
  }
}

/** Opens a store with the built package. */
export async function openStorage(location: StoreLocation): Promise<RunStorage> {
  if ('directory' in location) {
    const { sqliteRunStorage } = await builtPackage<RunsDoor>('runs')
    return sqliteRunStorage(location.directory)
  }
  return openPostgresStorage(location)
}

/** Opens a store in Postgres with the built package. */
export async function openPostgresStorage(options: PostgresRunStorageOptions): Promise<RunStorage> {
  const entryPoint = new URL('../../../packages/runs/dist/postgres/index.js', import.meta.url)
  // NOTE: the build of a package has the entry points of its sources.
  const { postgresRunStorage } = (await import(entryPoint.href)) as PostgresEntryPoint
  return postgresRunStorage(options)
}
