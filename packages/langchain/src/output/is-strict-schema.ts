/** Decides whether OpenAI can enforce a schema; it supports only a subset of JSON Schema. Pure. */

/** Keywords that a strict schema may contain. */
const KEYWORDS: ReadonlySet<string> = new Set([
  '$defs',
  '$ref',
  'additionalProperties',
  'anyOf',
  'const',
  'description',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'items',
  'maxItems',
  'maximum',
  'minItems',
  'minimum',
  'multipleOf',
  'pattern',
  'properties',
  'required',
  'title',
  'type',
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
  'uuid',
])

/** Maximum levels of nesting that OpenAI accepts. */
const MAX_DEPTH = 10

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns whether `schema`, as plain JSON, may be sent with `strict: true`: an object at the root, every object
 * closed with all its properties required, and only keywords that OpenAI accepts.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
export function isStrictSchema(schema: object): boolean {
  return (
    'type' in schema &&
    schema.type === 'object' &&
    !('anyOf' in schema) &&
    isStrictWithin(schema, 0)
  )
}

function isStrictWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const schema: Fields = { ...value }
  const { type, format, anyOf, items, properties, $defs } = schema
  if (depth > MAX_DEPTH || Object.keys(schema).some((key) => !KEYWORDS.has(key))) return false
  if (type === undefined && anyOf === undefined && schema['$ref'] === undefined) return false
  if (format !== undefined && !FORMATS.has(format)) return false
  const kinds: readonly unknown[] = Array.isArray(type) ? type : [type]
  if (kinds.includes('object') && !isClosed(schema)) return false
  if (kinds.includes('array') && items === undefined) return false
  const inner = [...listValues(properties), ...listValues($defs), ...listValues(anyOf)]
  if (items !== undefined) inner.push(items)
  return inner.every((each) => isStrictWithin(each, depth + 1))
}

/** Returns whether an object forbids additional properties and requires every declared one. */
function isClosed({ additionalProperties, properties = {}, required = [] }: Fields): boolean {
  if (additionalProperties !== false || typeof properties !== 'object') return false
  const names = Object.keys(properties ?? {})
  return Array.isArray(required) && names.every((name) => required.includes(name))
}

function listValues(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}
