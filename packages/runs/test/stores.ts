/** Stores, for tests that apply to all of them. */
import { sqliteRunStorage } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { postgresRunStorage } from '@tutti/runs/postgres'

import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

/** A storage location that outlives its processes. */
export interface TestStore extends AsyncDisposable {
  /** Opens it, like a process that starts. */
  open(): Promise<RunStorage>
}

/** The kinds of stores, by name. */
export const STORES: Readonly<Record<'embedded' | 'postgres', () => Promise<TestStore>>> = {
  async embedded() {
    const directory = temporaryDirectory()
    return {
      async open() {
        return sqliteRunStorage(directory.path)
      },
      async [Symbol.asyncDispose]() {
        directory[Symbol.dispose]()
      },
    }
  },
  async postgres() {
    const database = await testDatabase()
    return {
      open: () => postgresRunStorage({ connectionString: database.url, maxConnections: 4 }),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    }
  },
}
