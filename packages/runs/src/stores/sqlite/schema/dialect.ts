/** The SQL of the embedded store where it differs from that of others. */
import { toTagIndex } from '../../shared/schema/tag-index.ts'

import type { StoreDialect } from '../../shared/schema/dialect.ts'

/**
 * Text that models, tools and people write is stored as JSON: Node 22 reads a text column up to its first NUL, and none can
 * hold half of a surrogate pair. An id is stored as the inside of its JSON string, which is nearly always the id itself.
 */
export const sqliteDialect: StoreDialect = {
  texts: {
    id: (stored) => (stored.includes('\\') ? String(JSON.parse(`"${stored}"`)) : stored),
    text: (stored) => JSON.parse(stored),
    inside: (start) => start.slice(1).replace(/"$/, ''),
    encode: {
      id: (text) => JSON.stringify(text).slice(1, -1),
      text: (text) => JSON.stringify(text),
      key: (text) => JSON.stringify(text),
    },
  },
  millis: (column) => column,
  duration: (ms) => ms,
  reviewOrder: 'n',
  isAmong: (query) => `IN (${query})`,
  newPlace: '(SELECT coalesce(max(place), 0) + 1 FROM threads)',
  threadsWithTag: ({ key, value }, add) =>
    `thread_tags CROSS JOIN threads USING (place) WHERE tag = ${add(toTagIndex(key, value))}`,
}
