/** Pure: the values under which the tags of runs and threads are indexed, for equality. */
import { createHash } from 'node:crypto'

import type { TagMap } from '@tutti/protocol/internal'

/** Maximum length of an indexed text; longer ones are hashed. Postgres accepts 2700 bytes. */
const MAX_INDEXED_LENGTH = 500

/** Returns the index value of a text in its stored form. */
export function shortenIndex(column: string): string {
  if (column.length <= MAX_INDEXED_LENGTH) return column
  return `sha256:${createHash('sha256').update(column).digest('hex')}`
}

/** Returns the index value of a tag: its key, or its key with the text form of its value. */
export function toTagIndex(key: string, value?: string): string {
  const quotedKey = JSON.stringify(key)
  return shortenIndex(value === undefined ? quotedKey : `${quotedKey}=${JSON.stringify(value)}`)
}

/** Returns the index values of all tags: of each key, and of each key with its value. */
export function toTagIndexes(tags: Readonly<TagMap>): readonly string[] {
  return Object.entries(tags).flatMap(([key, value]) => [
    toTagIndex(key),
    toTagIndex(key, String(value)),
  ])
}
