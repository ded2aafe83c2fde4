/** The SQL of Postgres where it differs from that of other stores. */
import { toTagIndex } from '../../shared/schema/tag-index.ts'
import { fromColumn, toColumn, toIndex } from '../database/text.ts'

import type { AddValue, StoreDialect, WantedTag } from '../../shared/schema/dialect.ts'

export const postgresDialect: StoreDialect = {
  texts: {
    id: fromColumn,
    text: fromColumn,
    inside: (start) => start,
    encode: { id: toColumn, text: toColumn, key: toIndex },
  },
  millis: (column) => `floor(extract(epoch FROM ${column}) * 1000)`,
  duration: (ms) => `${ms}::float8 * interval '1 millisecond'`,
  reviewOrder: 'id',
  isAmong: (query) => `= ANY (ARRAY(${query}))`,
  newPlace: 'DEFAULT',
  threadsWithTag: (tag, add) => `$schema.threads WHERE ${hasTag(tag, add)}`,
}

/** Returns the condition that a row has a tag. */
export function hasTag({ key, value }: WantedTag, add: AddValue): string {
  return `tag_index @> ${add([toTagIndex(key, value)])}::text[]`
}
