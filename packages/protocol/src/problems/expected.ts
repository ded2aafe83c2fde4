/** Short descriptions of valid values: `a string`, `one of "a", "b"`, `an object or null`. */
import { PATTERN_MEANINGS } from '../schemas/scalars.ts'
import { previewOf } from './preview.ts'
import { findFixedValues, type Schema, type SchemaNode } from '../schema-node.ts'

const TYPE_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'a boolean'],
  ['object', 'an object'],
  ['array', 'an array'],
  ['null', 'null'],
])

const FORMAT_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['date-time', 'a date and time such as "2025-03-15T10:30:00Z"'],
  ['date', 'a date such as "2025-03-15"'],
  ['time', 'a time such as "10:30:00Z"'],
  ['duration', 'an ISO-8601 duration such as "PT30S"'],
  ['uuid', 'a UUID'],
  ['uri', 'a URI'],
  ['url', 'a URL'],
  ['email', 'an email address'],
])

/** Describes the values that match the schema; `a value` when there is no simple description. */
export function describeExpected(schema: Schema): string {
  if (typeof schema === 'boolean') return schema ? 'a value' : 'nothing'
  const fixed = findFixedValues(schema)
  if (fixed !== undefined) return listChoices(fixed)
  const members = schema.anyOf ?? schema.oneOf
  if (members !== undefined) return describeAlternatives(members)
  if (typeof schema.format === 'string') return describeFormat(schema.format)
  if (typeof schema.pattern === 'string') return describePattern(schema.pattern)
  return describeTypes(schema)
}

/** Maximum number of values that `listChoices` lists. */
const MAX_LISTED = 30

/** Returns `"a"` for one value, `one of "a", "b"` for several. */
export function listChoices(values: readonly unknown[]): string {
  const texts = values.slice(0, MAX_LISTED).map(previewOf).join(', ')
  const rest = values.length - MAX_LISTED
  if (rest > 0) return `one of ${texts} and ${rest} more`
  return values.length === 1 ? texts : `one of ${texts}`
}

/** Describes the types of a node: `a string`, `a string or null`. */
export function describeTypes(schema: Pick<SchemaNode, 'type'>): string {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  return types.map((type) => TYPE_DESCRIPTIONS.get(type) ?? type).join(' or ') || 'a value'
}

export function describeFormat(format: string): string {
  return FORMAT_DESCRIPTIONS.get(format) ?? `a valid ${format}`
}

/** Describes a pattern: by its meaning for the patterns of this package, otherwise by its text. */
export function describePattern(pattern: string): string {
  return PATTERN_MEANINGS.get(pattern) ?? `text that matches /${pattern}/`
}

function describeAlternatives(members: readonly Schema[]): string {
  const fixed = members.map(findFixedValues)
  if (fixed.every((values) => values !== undefined)) return listChoices(fixed.flat())
  return [...new Set(members.map(describeExpected))].join(' or ')
}
