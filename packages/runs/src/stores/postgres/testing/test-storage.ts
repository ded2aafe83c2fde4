/** Runs all cases of storages on the Postgres store of one database. */
import { describe, it } from 'vitest'

import { dispatcherCases, runStorageCases, sharedStorageCases } from '../../../testing/index.ts'
import { oddValueCases } from '../../../testing/runs/odd-value-cases.ts'
import { valueCases } from '../../../testing/runs/value-cases.ts'
import { quoteName } from '../database/connections.ts'
import { postgresRunStorage } from '../index.ts'

import type { Client } from 'pg'
import type { StorageCase } from '../../../testing/index.ts'
import type { RunStorage } from '../../../ports/run-storage.ts'
import type { PostgresRunStorageOptions } from '../database/options.ts'

/** The database of the cases. */
export interface StorageDatabase {
  /** A direct connection to it. */
  readonly client: Client
  readonly options: Pick<PostgresRunStorageOptions, 'connectionString' | 'listenConnectionString'>
}

interface Place extends AsyncDisposable {
  open(): Promise<RunStorage>
  /** Removes what the case before has left. */
  empty(): Promise<unknown>
  passTime(ms: number): Promise<void>
}

/** Cases about single values, whose conversion is the same on every server and behind every proxy. */
const VALUE_CASES: ReadonlySet<StorageCase> = new Set([...valueCases, ...oddValueCases])

/**
 * Defines the tests. `database` returns the database while they run. `skipsValues` leaves out the cases about single
 * values.
 */
export function testStorage(
  database: () => StorageDatabase,
  { skipsValues = false }: { readonly skipsValues?: boolean } = {},
): void {
  describe('every storage', () => {
    const cases = [...runStorageCases, ...dispatcherCases]
    it.for(skipsValues ? cases.filter((one) => !VALUE_CASES.has(one)) : cases)(
      '$name',
      async ({ run }) => {
        await using location = placeIn(database(), 'cases')
        const storage = await location.open()
        await location.empty()
        await run({ storage, passTime: location.passTime })
      },
    )
  })

  describe('every storage that processes share', () => {
    it.for(sharedStorageCases)('$name', async ({ run }) => {
      await using location = placeIn(database(), 'a shared location')
      const storage = await location.open()
      await location.empty()
      await run({ storage, passTime: location.passTime, another: location.open })
    })
  })
}

/** Tables to empty; the others are emptied with the runs. */
const TABLES = [
  'runs',
  'threads',
  'leases',
  'slots',
  'audit',
  'builds',
  'build_shares',
  'manifests',
  'secrets',
  'waits',
  'external_events',
  'memories',
  'reflections',
  'schedules',
]

/** Columns with milliseconds since 1970 that statements compare with the clock of the store. */
const CLOCK_COLUMNS = [
  ['runs', 'start_by'],
  ['schedules', 'due_at'],
] as const

function placeIn({ client, options }: StorageDatabase, schema: string): Place {
  const opened: RunStorage[] = []
  const moveBack = (table: string, columns: readonly string[], ms: number): Promise<unknown> =>
    client.query(
      `UPDATE ${quoteName(schema)}.${table} SET ${columns
        .map((column) => `${column} = ${column} - $1 * interval '1 millisecond'`)
        .join(', ')}`,
      [ms],
    )
  return {
    async open() {
      const storage = await postgresRunStorage({ ...options, schema, maxConnections: 4 })
      opened.push(storage)
      return storage
    },
    empty: () =>
      client.query(TABLES.map((table) => `DELETE FROM ${quoteName(schema)}.${table}`).join('; ')),
    async passTime(ms) {
      await moveBack('runs', ['due_at', 'claimed_at', 'ended_at'], ms)
      await moveBack('external_events', ['received_at'], ms)
      await moveBack('leases', ['expires_at'], ms)
      for (const [table, column] of CLOCK_COLUMNS) {
        await client.query(
          `UPDATE ${quoteName(schema)}.${table} SET ${column} = ${column} - $1::float8`,
          [ms],
        )
      }
      await moveBack('threads', ['changed_at'], ms)
      await moveBack('deliveries', ['due_at'], ms)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((storage) => storage[Symbol.asyncDispose]()))
    },
  }
}
