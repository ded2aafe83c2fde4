/** Memories and reflections of ensembles in Postgres. */
import { MAX_MEMORY_ENTRIES } from '../../../ports/run-memory.ts'
import { clampCount } from '../../shared/query-numbers.ts'
import { toIndex } from '../database/text.ts'

import type { RunMemory } from '../../../ports/run-memory.ts'
import type { Database } from '../database/database.ts'
import type { MemoryEntry, Reflection } from '@tutti/ensemble/adapter'

/** Returns the memory of a Postgres store. */
export function postgresRunMemory(database: Database): RunMemory {
  const { schema } = database
  return {
    memories: {
      async append(scope, entry) {
        const key = toIndex(scope)
        await database.query(
          `WITH added AS (
             INSERT INTO ${schema}.memories (scope, data) VALUES ($1, $2) RETURNING id
           )
           DELETE FROM ${schema}.memories WHERE scope = $1 AND id <= (
             SELECT id FROM ${schema}.memories
             WHERE scope = $1 AND id < (SELECT id FROM added)
             ORDER BY id DESC LIMIT 1 OFFSET $3
           )`,
          [key, JSON.stringify(entry), MAX_MEMORY_ENTRIES - 1],
        )
      },
      async retrieve(scope, { limit }) {
        const rows = await database.query(
          `SELECT data FROM ${schema}.memories WHERE scope = $1 ORDER BY id DESC LIMIT $2`,
          [toIndex(scope), clampCount(limit)],
        )
        // NOTE: a cast at the boundary: this store writes only entries.
        return rows.map((row) => JSON.parse(String(row['data'])) as MemoryEntry).toReversed()
      },
    },
    reflections: {
      async get(key) {
        const [row] = await database.query(
          `SELECT data FROM ${schema}.reflections WHERE key = $1`,
          [toIndex(key)],
        )
        // NOTE: a cast at the boundary: this store writes only reflections.
        return row === undefined ? undefined : (JSON.parse(String(row['data'])) as Reflection)
      },
      async put(key, reflection) {
        await database.query(
          `INSERT INTO ${schema}.reflections (key, data) VALUES ($1, $2)
           ON CONFLICT (key) DO UPDATE SET data = excluded.data`,
          [toIndex(key), JSON.stringify(reflection)],
        )
      },
    },
  }
}
