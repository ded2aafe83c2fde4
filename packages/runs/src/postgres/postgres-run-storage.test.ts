import { describe, it } from 'vitest'

import { runStorageCases, sharedStorageCases } from '../testing/index.ts'
import { quoteName } from './connections.ts'
import { postgresRunStorage } from './index.ts'
import { ownDatabase } from '../../test/own-database.ts'

import type { RunStorage } from '../ports/run-storage.ts'

const database = ownDatabase()

describe('every storage', () => {
  it.for(runStorageCases)('$name', async ({ run }) => {
    await using place = placeIn('cases')
    const storage = await place.open()
    for (const table of [
      'runs',
      'leases',
      'slots',
      'audit',
      'secrets',
      'memories',
      'reflections',
    ]) {
      await database.client.query(`DELETE FROM cases.${table}`)
    }
    await run({ storage, passTime: place.passTime })
  })
})

describe('every storage that processes share', () => {
  it.for(sharedStorageCases)('$name', async ({ run }) => {
    places += 1
    await using place = placeIn(`place ${places}`)
    const storage = await place.open()
    await run({ storage, passTime: place.passTime, another: place.open })
  })
})

interface Place extends AsyncDisposable {
  open(): Promise<RunStorage>
  passTime(ms: number): Promise<void>
}

let places = 0

function placeIn(schema: string): Place {
  const opened: RunStorage[] = []
  return {
    async open() {
      const connectionString = database.url
      const storage = await postgresRunStorage({ connectionString, schema, maxConnections: 4 })
      opened.push(storage)
      return storage
    },
    async passTime(ms) {
      await database.client.query(
        `UPDATE ${quoteName(schema)}.runs SET due_at = due_at - $1 * interval '1 millisecond',
           claimed_at = claimed_at - $1 * interval '1 millisecond',
           ended_at = ended_at - $1 * interval '1 millisecond'`,
        [ms],
      )
      await database.client.query(
        `UPDATE ${quoteName(schema)}.leases SET expires_at = expires_at - $1 * interval '1 millisecond'`,
        [ms],
      )
      await database.client.query(
        `UPDATE ${quoteName(schema)}.deliveries SET due_at = due_at - $1 * interval '1 millisecond'`,
        [ms],
      )
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((storage) => storage[Symbol.asyncDispose]()))
    },
  }
}
