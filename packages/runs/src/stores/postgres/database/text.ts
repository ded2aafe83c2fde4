/**
 * Pure: texts in columns. Postgres text cannot contain NUL or half of a surrogate pair, but tool output can. Each text
 * is therefore stored as the inside of its JSON string, which differs from the text only where characters are escaped.
 */
import { createHash } from 'node:crypto'

/** Converts a text to its column value. */
export function toColumn(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Converts a column value to its text. */
export function fromColumn(column: string): string {
  return column.includes('\\') ? String(JSON.parse(`"${column}"`)) : column
}

/** Maximum length of an indexed text; longer ones are hashed. Postgres accepts 2700 bytes. */
const MAX_INDEXED_LENGTH = 500

/** Converts a text to the value of an index that is only used for equality. */
export function toIndex(text: string): string {
  const column = toColumn(text)
  if (column.length <= MAX_INDEXED_LENGTH) return column
  return `sha256:${createHash('sha256').update(column).digest('hex')}`
}

/** Returns the text of an array of texts or numbers, as Postgres reads it. */
export function toArrayText(values: readonly (string | number)[]): string {
  const quoted = values.map((value) =>
    typeof value === 'number' ? value : `"${value.replaceAll(/[\\"]/g, String.raw`\$&`)}"`,
  )
  return `{${quoted.join()}}`
}

/** Returns the index value of a tag: its key, or its key with its value. */
export function toTagIndex(key: string, value?: string): string {
  const quotedKey = JSON.stringify(key)
  return toIndex(value === undefined ? quotedKey : `${quotedKey}=${JSON.stringify(value)}`)
}
