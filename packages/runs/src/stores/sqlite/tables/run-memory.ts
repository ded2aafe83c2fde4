/** Memories and reflections of ensembles in the embedded store. */
import { MAX_MEMORY_ENTRIES } from '../../../ports/run-memory.ts'

import type { RunMemory } from '../../../ports/run-memory.ts'
import type { SqliteParts } from '../rows/parts.ts'
import type { MemoryEntry, Reflection } from '@tutti/ensemble/adapter'

/** Returns the memory of an open database. */
export function sqliteRunMemory({ database, transaction }: SqliteParts): RunMemory {
  const append = database.prepare('INSERT INTO memories (scope, data) VALUES (?, ?)')
  const trim = database.prepare(
    `DELETE FROM memories WHERE scope = ?1 AND id <=
       (SELECT id FROM memories WHERE scope = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
  )
  const latest = database.prepare(
    'SELECT data FROM memories WHERE scope = ? ORDER BY id DESC LIMIT ?',
  )
  const get = database.prepare('SELECT data FROM reflections WHERE key = ?')
  const put = database.prepare(
    `INSERT INTO reflections (key, data) VALUES (?, ?)
     ON CONFLICT (key) DO UPDATE SET data = excluded.data`,
  )
  return {
    memories: {
      async append(scope, entry) {
        transaction(() => {
          append.run(JSON.stringify(scope), JSON.stringify(entry))
          trim.run(JSON.stringify(scope), MAX_MEMORY_ENTRIES)
        })
      },
      async retrieve(scope, { limit }) {
        const rows = latest.all(JSON.stringify(scope), limit).toReversed()
        // NOTE: a cast at the boundary: this store writes only entries.
        return rows.map((row) => JSON.parse(String(row['data'])) as MemoryEntry)
      },
    },
    reflections: {
      async get(key) {
        const row = get.get(JSON.stringify(key))
        // NOTE: a cast at the boundary: this store writes only reflections.
        return row === undefined ? undefined : (JSON.parse(String(row['data'])) as Reflection)
      },
      async put(key, reflection) {
        put.run(JSON.stringify(key), JSON.stringify(reflection))
      },
    },
  }
}
