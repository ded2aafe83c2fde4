/** What a schema asks for, in a few words: `a string`, `one of "a", "b"`, `an object or null`. */
import { PATTERN_MEANINGS } from '../schemas/scalars.ts'
import { previewOf } from './preview.ts'
import { fixedValuesOf, type Schema, type SchemaNode } from './schema-node.ts'

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'a boolean'],
  ['object', 'an object'],
  ['array', 'an array'],
  ['null', 'null'],
])

const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ['date-time', 'a date and time such as "2025-03-15T10:30:00Z"'],
  ['date', 'a date such as "2025-03-15"'],
  ['time', 'a time such as "10:30:00Z"'],
  ['duration', 'an ISO-8601 duration such as "PT30S"'],
  ['uuid', 'a UUID'],
  ['uri', 'a URI'],
  ['url', 'a URL'],
  ['email', 'an email address'],
])

/** What would fit the schema, in words; `a value` when it asks for nothing that can be named. */
export function expectedOf(schema: Schema): string {
  if (typeof schema === 'boolean') return schema ? 'a value' : 'nothing'
  const fixed = fixedValuesOf(schema)
  if (fixed !== undefined) return oneOf(fixed)
  const members = schema.anyOf ?? schema.oneOf
  if (members !== undefined) return eitherOf(members)
  if (typeof schema.format === 'string') return formatWords(schema.format)
  if (typeof schema.pattern === 'string') return patternWords(schema.pattern)
  return typeWords(schema)
}

/** Maximum number of values that `oneOf` lists. */
const MAX_LISTED = 30

/** Returns `"a"` for one value, `one of "a", "b"` for several. */
export function oneOf(values: readonly unknown[]): string {
  const texts = values.slice(0, MAX_LISTED).map(previewOf).join(', ')
  const rest = values.length - MAX_LISTED
  if (rest > 0) return `one of ${texts} and ${rest} more`
  return values.length === 1 ? texts : `one of ${texts}`
}

/** The types of a node in words: `a string`, `a string or null`. */
export function typeWords(schema: Pick<SchemaNode, 'type'>): string {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  return types.map((type) => TYPE_WORDS.get(type) ?? type).join(' or ') || 'a value'
}

/** What a format asks for. */
export function formatWords(format: string): string {
  return FORMAT_WORDS.get(format) ?? `a valid ${format}`
}

/** What a pattern asks for: its meaning where it is one of ours, else the pattern. */
export function patternWords(pattern: string): string {
  return PATTERN_MEANINGS.get(pattern) ?? `text that matches /${pattern}/`
}

function eitherOf(members: readonly Schema[]): string {
  const fixed = members.map(fixedValuesOf)
  if (fixed.every((values) => values !== undefined)) return oneOf(fixed.flat())
  return [...new Set(members.map(expectedOf))].join(' or ')
}
