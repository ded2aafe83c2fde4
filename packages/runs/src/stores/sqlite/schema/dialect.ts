/** The SQL of the embedded store where it differs from that of others. */
import type { StoreDialect, WantedTag } from '../../shared/schema/dialect.ts'

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
  tagValues: (tags) => ({ tags: JSON.stringify(tags) }),
  /** Compares a value in its text form. Numbers are compared as numbers if the text is a number as JSON writes it. */
  hasTag({ key, value }: WantedTag, add) {
    const of = `SELECT 1 FROM json_each(iif(json_valid(tags), tags, '{}')) WHERE key = ${add(key)}`
    if (value === undefined) return `EXISTS (${of})`
    const text = add(value)
    return `EXISTS (${of} AND (
      (type = 'text' AND value = ${text})
      OR (type IN ('integer', 'real') AND value = ${add(parseNumber(value))})
      OR (type IN ('true', 'false') AND type = ${text})))`
  },
}

/** Parses a number as JSON writes it; returns null for any other text. */
function parseNumber(text: string): number | null {
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : null
}
