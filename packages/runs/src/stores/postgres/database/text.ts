/**
 * Pure: texts in columns. Postgres text cannot contain NUL or half of a surrogate pair, but tool output can. Each text
 * is therefore stored as the inside of its JSON string, which differs from the text only where characters are escaped.
 */
import { shortenIndex } from '../../shared/schema/tag-index.ts'

/** Converts a text to its column value. */
export function toColumn(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Converts a column value to its text. */
export function fromColumn(column: string): string {
  return column.includes('\\') ? String(JSON.parse(`"${column}"`)) : column
}

/** Converts a text to the value of an index that is only used for equality. */
export function toIndex(text: string): string {
  return shortenIndex(toColumn(text))
}

/** Returns the text of an array of texts or numbers, as Postgres reads it. */
export function toArrayText(values: readonly (string | number)[]): string {
  const quoted = values.map((value) =>
    typeof value === 'number' ? value : `"${value.replaceAll(/[\\"]/g, String.raw`\$&`)}"`,
  )
  return `{${quoted.join()}}`
}
