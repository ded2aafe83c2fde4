/**
 * Embeds one JSON Schema in another. References such as `#/$defs/Page` start at the root of the document, so the path of
 * the embedded schema is prepended to them.
 */
import { isJsonObject } from '@tutti/core/internal'

import type { TSchema } from '@tutti/core'

/** Keywords whose value is a schema, or a list of schemas. */
const WITH_SCHEMAS: ReadonlySet<string> = new Set([
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])

/** Keywords whose value is an object of schemas. */
const WITH_NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
])

/**
 * Returns the schema for embedding at `path`, the keys from the new root. It is the same object if it contains no
 * reference to its root.
 */
export function embedSchema(schema: TSchema, path: readonly string[]): TSchema {
  const root = path.map((key) => `/${encodePointerKey(key)}`).join('')
  // NOTE: a schema with changed references is a schema.
  return prefixRefs(schema, root) as TSchema
}

function encodePointerKey(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function prefixRefs(schema: unknown, root: string): unknown {
  if (Array.isArray(schema)) {
    const members = schema.map((member) => prefixRefs(member, root))
    return members.some((member, index) => member !== schema[index]) ? members : schema
  }
  // A schema with an `$id` is the root of its references.
  if (!isJsonObject(schema) || '$id' in schema) return schema
  return mapValues(schema, (value, keyword) => {
    if (keyword === '$ref') return prefixRef(value, root)
    if (WITH_SCHEMAS.has(keyword)) return prefixRefs(value, root)
    if (!WITH_NAMED_SCHEMAS.has(keyword) || !isJsonObject(value)) return value
    return mapValues(value, (member) => prefixRefs(member, root))
  })
}

function prefixRef(ref: unknown, root: string): unknown {
  const startsAtRoot = typeof ref === 'string' && (ref === '#' || ref.startsWith('#/'))
  return startsAtRoot ? `#${root}${ref.slice(1)}` : ref
}

/** Maps the values of an object. Returns the same object if no value has changed. */
function mapValues(
  object: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => unknown,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(object).map(([key, value]) => [key, map(value, key)] as const)
  const isSame = entries.every(([key, value]) => value === object[key])
  return isSame ? object : Object.fromEntries(entries)
}
