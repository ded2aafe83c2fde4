/**
 * Putting one JSON Schema inside another. References such as `#/$defs/Page` start at the root of the
 * document, so in a schema that stops being the root they get the way to it put in front.
 */
import { isJsonObject } from '@tutti/core'

import type { TSchema } from '@tutti/core'

/** Keywords that hold one schema, or a list of schemas. */
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

/** Keywords that hold schemas by name. */
const WITH_NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
])

/**
 * The schema for its place at `path`, the keys from the new root. It is the same object where nothing
 * in it refers to its root.
 */
export function embedSchema(schema: TSchema, path: readonly string[]): TSchema {
  const root = path.map((key) => `/${pointerKey(key)}`).join('')
  // NOTE: a schema with other references is a schema.
  return withRoot(schema, root) as TSchema
}

function pointerKey(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function withRoot(schema: unknown, root: string): unknown {
  if (Array.isArray(schema)) {
    const members = schema.map((member) => withRoot(member, root))
    return members.some((member, index) => member !== schema[index]) ? members : schema
  }
  // A schema with an address of its own is the root of its references.
  if (!isJsonObject(schema) || '$id' in schema) return schema
  return mapped(schema, (value, keyword) => {
    if (keyword === '$ref') return refWithRoot(value, root)
    if (WITH_SCHEMAS.has(keyword)) return withRoot(value, root)
    if (!WITH_NAMED_SCHEMAS.has(keyword) || !isJsonObject(value)) return value
    return mapped(value, (member) => withRoot(member, root))
  })
}

function refWithRoot(ref: unknown, root: string): unknown {
  const startsAtRoot = typeof ref === 'string' && (ref === '#' || ref.startsWith('#/'))
  return startsAtRoot ? `#${root}${ref.slice(1)}` : ref
}

/** The object with other values, or itself where they are the same. */
function mapped(
  object: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => unknown,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(object).map(([key, value]) => [key, map(value, key)] as const)
  const isSame = entries.every(([key, value]) => value === object[key])
  return isSame ? object : Object.fromEntries(entries)
}
