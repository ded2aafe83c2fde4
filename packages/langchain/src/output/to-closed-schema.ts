/**
 * Converts a schema to the form that Anthropic's structured output accepts. All its objects are closed. Bounds of
 * numbers and texts are rejected there, so they move to the description, and the reader of the answer checks them.
 * A schema that cannot be closed without changing its meaning, such as a map, has no such form. Pure.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
import { describeKeywords } from '../rules/describe-keywords.ts'

/** Keywords that are sent unchanged. */
const KEPT: ReadonlySet<string> = new Set(['type', 'const', 'default', 'required', 'title'])

/** Keywords that do not affect the answer. */
const DROPPED: ReadonlySet<string> = new Set(['$id', '$schema', '$comment', 'examples'])

/** Keywords that make objects open or refer elsewhere; recursion is refused, so no reference is sent. */
const OPEN: ReadonlySet<string> = new Set([
  '$defs',
  '$dynamicRef',
  '$ref',
  'definitions',
  'patternProperties',
  'prefixItems',
  'unevaluatedProperties',
])

const FORMATS: ReadonlySet<unknown> = new Set([
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'time',
  'uri',
  'uuid',
])

/** Maximum number of optional properties in a schema, and of unions of types. */
const MAX_OPTIONAL = 24
const MAX_UNIONS = 16

type Fields = Record<string, unknown>

interface Count {
  optional: number
  unions: number
}

/** Returns the closed form of `schema`, which is plain JSON; undefined when it has none. */
export function toClosedSchema(schema: object): object | undefined {
  const count: Count = { optional: 0, unions: 0 }
  const closed = close(schema, count)
  if (closed?.['type'] !== 'object') return undefined
  return count.optional > MAX_OPTIONAL || count.unions > MAX_UNIONS ? undefined : closed
}

function close(value: unknown, count: Count): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const schema: Fields = { ...value }
  if (!isRestricted(schema) || isOpen(schema)) return undefined
  const closed: Fields = {}
  const asWords: Fields = {}
  for (const [key, given] of Object.entries(schema)) {
    if (DROPPED.has(key) || key === 'description' || key === 'additionalProperties') continue
    const converted = keep(key, given, count)
    if (converted === undefined) return undefined
    if (converted === WORDS) asWords[key] = given
    else Object.assign(closed, converted)
  }
  const description = describeKeywords(schema['description'], asWords)
  if (description !== undefined) closed['description'] = description
  if (closed['properties'] !== undefined) closed['additionalProperties'] = false
  addCounts(closed, count)
  return closed
}

/** Stands for a keyword that only the description expresses. */
const WORDS = { asWords: true }

/** Converts one keyword to its new field, to {@link WORDS}, or to undefined when it has no equivalent. */
function keep(key: string, given: unknown, count: Count): Fields | undefined {
  if (KEPT.has(key)) return { [key]: given }
  switch (key) {
    case 'properties':
      return closeMembers(key, given, count)
    case 'items': {
      const items = close(given, count)
      return items && { items }
    }
    case 'anyOf':
    case 'oneOf': {
      const choices = closeAll(given, count)
      return choices && { anyOf: choices }
    }
    case 'allOf': {
      const parts = closeAll(given, count)
      return parts && { allOf: parts }
    }
    case 'enum':
      return Array.isArray(given) && given.every(isPlain) ? { enum: given } : undefined
    case 'format':
      return FORMATS.has(given) ? { format: given } : WORDS
    case 'minItems':
      return given === 0 || given === 1 ? { minItems: given } : WORDS
    default:
      return WORDS
  }
}

function closeMembers(key: string, given: unknown, count: Count): Fields | undefined {
  const members: Fields = {}
  if (typeof given !== 'object' || given === null) return undefined
  for (const [name, member] of Object.entries(given)) {
    const closed = close(member, count)
    if (closed === undefined) return undefined
    members[name] = closed
  }
  return { [key]: members }
}

function closeAll(given: unknown, count: Count): readonly Fields[] | undefined {
  if (!Array.isArray(given)) return undefined
  const closed = given.map((each) => close(each, count)).filter((each) => each !== undefined)
  return closed.length === given.length ? closed : undefined
}

/** Returns whether a schema restricts its values at all. */
function isRestricted(schema: Fields): boolean {
  return ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'].some((key) => key in schema)
}

/** Returns whether a schema accepts values that cannot be listed: further properties, items of any kind. */
function isOpen(schema: Fields): boolean {
  const { type, properties, items, additionalProperties = false } = schema
  const kinds: readonly unknown[] = Array.isArray(type) ? type : [type]
  return (
    Object.keys(schema).some((key) => OPEN.has(key)) ||
    additionalProperties !== false ||
    (kinds.includes('object') && properties === undefined) ||
    (kinds.includes('array') && items === undefined)
  )
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function addCounts({ properties, required = [], anyOf, type }: Fields, count: Count): void {
  if (anyOf !== undefined || Array.isArray(type)) count.unions += 1
  if (typeof properties !== 'object' || properties === null || !Array.isArray(required)) return
  count.optional += Object.keys(properties).filter((name) => !required.includes(name)).length
}
