/**
 * Pure: texts in columns. A text of Postgres holds neither NUL nor half of a surrogate pair, both of
 * which tool output can hold; so each text is kept as the inside of its JSON, which differs from it only
 * where there is something to escape.
 */
import { createHash } from 'node:crypto'

/** A text as a column keeps it. */
export function toColumn(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** The text that a column keeps. */
export function fromColumn(column: string): string {
  return column.includes('\\') ? String(JSON.parse(`"${column}"`)) : column
}

/** What fits into an index is kept as it is, the rest by its hash; Postgres takes 2 700 bytes. */
const LONGEST_INDEXED = 500

/** A text in an index that is only asked for equality. */
export function toIndex(text: string): string {
  const column = toColumn(text)
  if (column.length <= LONGEST_INDEXED) return column
  return `sha256:${createHash('sha256').update(column).digest('hex')}`
}

/** What a tag is found by: its key, and its key with its value. */
export function toTagIndex(key: string, value?: string): string {
  const quotedKey = JSON.stringify(key)
  return toIndex(value === undefined ? quotedKey : `${quotedKey}=${JSON.stringify(value)}`)
}
