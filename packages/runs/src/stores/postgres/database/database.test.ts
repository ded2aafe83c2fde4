import { describe, expect, it } from 'vitest'

import { ownDatabase } from '../../../../test/own-database.ts'
import { Database, PLAN_LISTS, PLAN_ONCE } from './database.ts'
import { resolvePostgresRunStorageOptions } from './options.ts'

describe('the connections of a store', () => {
  const own = ownDatabase()

  // A server with JIT compilation took four seconds of processor time for each claim, whose plan looks expensive.
  it.for(['', PLAN_ONCE, PLAN_LISTS])(
    'The connections of a store use no JIT compilation, with the settings "%s"',
    async (planner) => {
      const database = new Database({
        ...resolvePostgresRunStorageOptions({ connectionString: own.url }),
        planner,
        onLost: () => undefined,
      })
      await expect(database.query('SHOW jit')).resolves.toEqual([{ jit: 'off' }])
      await database.close()
      await expect(own.client.query('SHOW jit')).resolves.toMatchObject({ rows: [{ jit: 'on' }] })
    },
  )
})
