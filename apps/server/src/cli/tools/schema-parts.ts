/** Pure: reads the parts of a JSON Schema that the command line needs. */
import { isJsonObject, ownValue } from '@tutti/protocol/internal'

/** A schema, as an object. */
export type Fields = Readonly<Record<string, unknown>>

/** A schema in its document. */
export interface SchemaPart {
  readonly schema: Fields
  /** Document that references point into. */
  readonly root: Fields
}

/** Maximum length of a chain of references; a schema may refer to itself. */
const MAX_REFERENCES = 8

/** Returns the members of a union, or the schema itself if it is not a union. */
export function listMembers(part: SchemaPart): readonly SchemaPart[] {
  const { schema, root } = resolveSchema(part)
  const union = schema['anyOf'] ?? schema['oneOf']
  if (!Array.isArray(union)) return [{ schema, root }]
  return union.filter(isJsonObject).map((member) => resolveSchema({ schema: member, root }))
}

/** Follows the references of a schema. */
export function resolveSchema({ schema, root }: SchemaPart): SchemaPart {
  let found: Fields = schema
  for (let count = 0; count < MAX_REFERENCES; count++) {
    const target = findTarget(found['$ref'], root)
    if (target === undefined) break
    found = target
  }
  return { schema: found, root }
}

function findTarget(reference: unknown, root: Fields): Fields | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
  const keys = reference.slice(2).split('/')
  let found: unknown = root
  for (const key of keys) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isJsonObject(found) ? ownValue(found, name) : undefined
  }
  return isJsonObject(found) ? found : undefined
}

/** Returns the types that a schema lists; none when it allows any type. */
export function typesOf({ schema }: SchemaPart): readonly unknown[] {
  const { type } = schema
  if (Array.isArray(type)) return type
  return type === undefined ? [] : [type]
}

/** Returns the values of `const` or `enum`; undefined when the schema has neither. */
export function valuesOf({ schema }: SchemaPart): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']]
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined
}

/** Returns the properties of an object schema by name. */
export function listSchemaProperties(part: SchemaPart): ReadonlyMap<string, SchemaPart> {
  const { schema, root } = resolveSchema(part)
  const { properties } = schema
  if (!isJsonObject(properties)) return new Map()
  const entries = Object.entries(properties).flatMap(([name, value]) =>
    isJsonObject(value) ? [[name, { schema: value, root }] as const] : [],
  )
  return new Map(entries)
}

/** Returns the names of the required fields of an object. */
export function requiredOf(part: SchemaPart): readonly unknown[] {
  const { required } = resolveSchema(part).schema
  return Array.isArray(required) ? required : []
}
