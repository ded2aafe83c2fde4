/** The SQL of Postgres where it differs from that of other stores. */
import { fromColumn, toColumn, toIndex, toTagIndex } from '../database/text.ts'

import type { StoreDialect } from '../../shared/schema/dialect.ts'
import type { TagMap } from '@tutti/protocol/internal'

export const postgresDialect: StoreDialect = {
  texts: {
    id: fromColumn,
    text: fromColumn,
    inside: (start) => start,
    encode: { id: toColumn, text: toColumn, key: toIndex },
  },
  millis: (column) => `floor(extract(epoch FROM ${column}) * 1000)`,
  duration: (ms) => `${ms}::float8 * interval '1 millisecond'`,
  newPlace: 'DEFAULT',
  tagValues: (tags) => ({ tags: JSON.stringify(tags), tag_index: toTagIndexes(tags) }),
  hasTag: ({ key, value }, add) => `tag_index @> ${add([toTagIndex(key, value)])}::text[]`,
}

/** Returns the index values of all tags: of each key, and of each key with its value. */
export function toTagIndexes(tags: Readonly<TagMap>): readonly string[] {
  return Object.entries(tags).flatMap(([key, value]) => [
    toTagIndex(key),
    toTagIndex(key, String(value)),
  ])
}
