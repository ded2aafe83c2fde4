/** Where runs are kept, for stories that hold on every store. */
import { sqliteRunStorage, type RunStorage } from '@tutti/runs'
import { postgresRunStorage } from '@tutti/runs/postgres'

import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { temporaryDirectory } from './waiting-ensemble.ts'

/** A place that outlives the processes that open it. */
export interface TestStore extends AsyncDisposable {
  /** Opens it, as a process does when it starts. */
  open(): Promise<RunStorage>
}

/** The kinds of places, by name. */
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
