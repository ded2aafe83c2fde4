/** Pure: whether OpenAI can enforce a schema, which it does only for a part of JSON Schema. */

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

/** Levels of nesting that OpenAI takes. */
const MAX_DEPTH = 10

type Fields = Readonly<Record<string, unknown>>

/**
 * Whether `schema`, as plain JSON, may be sent with `strict: true`: an object at the root, every object
 * closed with all its properties required, and nothing that OpenAI would answer with a 400.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
export function isStrictSchema(schema: object): boolean {
  return 'type' in schema && schema.type === 'object' && !('anyOf' in schema) && fits(schema, 0)
}

function fits(value: unknown, depth: number): boolean {
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
  return inner.every((each) => fits(each, depth + 1))
}

/** Whether an object takes no other properties than its own, and requires all of them. */
function isClosed({ additionalProperties, properties = {}, required = [] }: Fields): boolean {
  if (additionalProperties !== false || typeof properties !== 'object') return false
  const names = Object.keys(properties ?? {})
  return Array.isArray(required) && names.every((name) => required.includes(name))
}

function listValues(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}
