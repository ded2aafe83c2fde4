/** The SQL of the embedded store where it differs from that of others. */
import { toTagIndex } from '../../shared/schema/tag-index.ts'

import type { StoreDialect } from '../../shared/schema/dialect.ts'

/**
 * Text that models, tools and people write is stored as JSON: a text column is read up to its first NUL, and cannot hold
 * half of a surrogate pair.
 */
export const sqliteDialect: StoreDialect = {
  texts: {
    id: (stored) => stored,
    text: (stored) => JSON.parse(stored),
    inside: (start) => start.slice(1).replace(/"$/, ''),
    encode: {
      id: (text) => text,
      text: (text) => JSON.stringify(text),
      key: (text) => JSON.stringify(text),
    },
  },
  millis: (column) => column,
  duration: (ms) => ms,
  newPlace: '(SELECT coalesce(max(place), 0) + 1 FROM threads)',
  threadsWithTag: ({ key, value }, add) =>
    `thread_tags CROSS JOIN threads USING (place) WHERE tag = ${add(toTagIndex(key, value))}`,
}
