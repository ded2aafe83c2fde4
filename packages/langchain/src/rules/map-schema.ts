/** Walks the schemas within a JSON Schema. Pure. */

/** A JSON Schema or another JSON object. */
export type PlainSchema = Readonly<Record<string, unknown>>

/** Keywords with one schema; `items` has a list of them in a tuple of draft 7. */
const SINGLE: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])

/** Keywords with a list of schemas. */
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'])

/** Keywords with schemas by name. */
const MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
])

/** Returns a copy of a schema in which `change` has replaced every schema, from the innermost to the root. */
export function mapSchema(schema: unknown, change: (fields: PlainSchema) => PlainSchema): unknown {
  if (!isFields(schema)) return schema
  const walk = (inner: unknown): unknown => mapSchema(inner, change)
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (Array.isArray(value)) return [keyword, LISTS.has(keyword) ? value.map(walk) : value]
    if (MAPS.has(keyword) && isFields(value)) return [keyword, mapValues(value, walk)]
    return [keyword, SINGLE.has(keyword) ? walk(value) : value]
  })
  return change(Object.fromEntries(entries))
}

/** A schema within another one. */
export interface InnerSchema {
  /** Keywords, names and indexes that lead to it. */
  readonly path: readonly string[]
  readonly fields: PlainSchema
}

/** Returns a schema and all schemas within it. */
export function listSchemas(schema: unknown, path: readonly string[] = []): readonly InnerSchema[] {
  if (!isFields(schema)) return []
  const inner = Object.entries(schema).flatMap(([keyword, value]) => {
    if (Array.isArray(value)) {
      if (!LISTS.has(keyword)) return []
      return value.flatMap((each, index) => listSchemas(each, [...path, keyword, String(index)]))
    }
    if (MAPS.has(keyword)) {
      const members = Object.entries(fieldsIn(value))
      return members.flatMap(([name, each]) => listSchemas(each, [...path, keyword, name]))
    }
    return SINGLE.has(keyword) ? listSchemas(value, [...path, keyword]) : []
  })
  return [{ path, fields: schema }, ...inner]
}

/** Returns an object with the same keys and changed values. */
export function mapValues(fields: PlainSchema, change: (value: unknown) => unknown): PlainSchema {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value)]))
}

/** Returns the fields of a value; none when it is not an object. */
export function fieldsIn(value: unknown): PlainSchema {
  return isFields(value) ? value : {}
}

/** Returns whether a value is an object and not a list. */
export function isFields(value: unknown): value is PlainSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a schema in the form that is sent: libraries add internal properties to their objects. */
export function toPlainSchema(schema: object): PlainSchema {
  return fieldsIn(JSON.parse(JSON.stringify(schema)))
}
