/** Runs all cases of storages on the Postgres store of one database. */
import { describe, it } from 'vitest'

import { dispatcherCases, runStorageCases, sharedStorageCases } from '../../testing/index.ts'
import { quoteName } from '../connections.ts'
import { postgresRunStorage } from '../index.ts'

import type { Client } from 'pg'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { PostgresRunStorageOptions } from '../options.ts'

/** The database of the cases. */
export interface StorageDatabase {
  /** A direct connection to it. */
  readonly client: Client
  readonly options: Pick<PostgresRunStorageOptions, 'connectionString' | 'listenConnectionString'>
}

interface Place extends AsyncDisposable {
  open(): Promise<RunStorage>
  passTime(ms: number): Promise<void>
}

/** Defines the tests. `database` returns the database while they run. */
export function testStorage(database: () => StorageDatabase): void {
  describe('every storage', () => {
    it.for([...runStorageCases, ...dispatcherCases])('$name', async ({ run }) => {
      await using place = placeIn(database(), 'cases')
      const storage = await place.open()
      await database().client.query(EMPTY)
      await run({ storage, passTime: place.passTime })
    })
  })

  describe('every storage that processes share', () => {
    const names = new Map(sharedStorageCases.map(({ name }, index) => [name, `place ${index}`]))
    it.for(sharedStorageCases)('$name', async ({ name, run }) => {
      await using place = placeIn(database(), names.get(name) ?? name)
      const storage = await place.open()
      await run({ storage, passTime: place.passTime, another: place.open })
    })
  })
}

/** Removes what the case before has left; other tables are emptied with the runs. */
const EMPTY = [
  'runs',
  'threads',
  'leases',
  'slots',
  'audit',
  'builds',
  'build_shares',
  'manifests',
  'secrets',
  'memories',
  'reflections',
]
  .map((table) => `DELETE FROM cases.${table}`)
  .join('; ')

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
    async passTime(ms) {
      await moveBack('runs', ['due_at', 'claimed_at', 'ended_at'], ms)
      await moveBack('leases', ['expires_at'], ms)
      await moveBack('threads', ['changed_at'], ms)
      await moveBack('deliveries', ['due_at'], ms)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((storage) => storage[Symbol.asyncDispose]()))
    },
  }
}
