/** Memories and reflections of ensembles. */
import { MAX_MEMORY_ENTRIES } from '../../../ports/run-memory.ts'
import { clampCount } from '../query-numbers.ts'

import type { RunMemory } from '../../../ports/run-memory.ts'
import type { StoreParts } from '../schema/dialect.ts'
import type { MemoryEntry, Reflection } from '@tutti/ensemble/adapter'

/** Adds `data` to the memories of `scope`, and deletes its oldest ones beyond `keep`, atomically. */
export type AppendMemory = (scope: string, data: string, keep: number) => Promise<unknown>

/** Returns the memory of a database. */
export function runMemory(
  { dialect: { texts }, requests }: Pick<StoreParts, 'dialect' | 'requests'>,
  append: AppendMemory,
): RunMemory {
  const { key: toKey } = texts.encode
  return {
    memories: {
      async append(scope, entry) {
        await append(toKey(scope), JSON.stringify(entry), MAX_MEMORY_ENTRIES)
      },
      async retrieve(scope, { limit }) {
        const rows = await requests.query(
          'SELECT data FROM $schema.memories WHERE scope = $1 ORDER BY id DESC LIMIT $2',
          [toKey(scope), clampCount(limit)],
        )
        // NOTE: a cast at the boundary: stores only ever write entries.
        return rows.map((row) => JSON.parse(String(row['data'])) as MemoryEntry).toReversed()
      },
    },
    reflections: {
      async get(key) {
        const [row] = await requests.query('SELECT data FROM $schema.reflections WHERE key = $1', [
          toKey(key),
        ])
        // NOTE: a cast at the boundary: stores only ever write reflections.
        return row === undefined ? undefined : (JSON.parse(String(row['data'])) as Reflection)
      },
      async put(key, reflection) {
        await requests.query(
          `INSERT INTO $schema.reflections (key, data) VALUES ($1, $2)
           ON CONFLICT (key) DO UPDATE SET data = excluded.data`,
          [toKey(key), JSON.stringify(reflection)],
        )
      },
    },
  }
}
