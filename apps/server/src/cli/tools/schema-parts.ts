/** Pure: the parts of a JSON Schema that words and values of a command line are made from. */
import { isJsonObject, ownValue } from '@tutti/protocol'

/** A schema, as an object. */
export type Fields = Readonly<Record<string, unknown>>

/** A schema with those that it refers to. */
export interface SchemaPart {
  readonly schema: Fields
  /** The whole schema, where references begin. */
  readonly root: Fields
}

/** References that are followed, one after another; a schema may refer to itself. */
const MAX_REFERENCES = 8

/** Schemas that a value may fit: those of a union each by itself. */
export function membersOf(part: SchemaPart): readonly SchemaPart[] {
  const { schema, root } = resolveSchema(part)
  const union = schema['anyOf'] ?? schema['oneOf']
  if (!Array.isArray(union)) return [{ schema, root }]
  return union.filter(isJsonObject).map((member) => resolveSchema({ schema: member, root }))
}

/** What a schema refers to, when it refers to something. */
export function resolveSchema({ schema, root }: SchemaPart): SchemaPart {
  let found: Fields = schema
  for (let count = 0; count < MAX_REFERENCES; count++) {
    const target = targetOf(found['$ref'], root)
    if (target === undefined) break
    found = target
  }
  return { schema: found, root }
}

function targetOf(reference: unknown, root: Fields): Fields | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
  const keys = reference.slice(2).split('/')
  let found: unknown = root
  for (const key of keys) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isJsonObject(found) ? ownValue(found, name) : undefined
  }
  return isJsonObject(found) ? found : undefined
}

/** The types that a schema names; none when it leaves them open. */
export function typesOf({ schema }: SchemaPart): readonly unknown[] {
  const { type } = schema
  if (Array.isArray(type)) return type
  return type === undefined ? [] : [type]
}

/** The values that a schema lists, when it takes no others. */
export function valuesOf({ schema }: SchemaPart): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']]
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined
}

/** The fields of an object's schema, by name. */
export function listSchemaProperties(part: SchemaPart): ReadonlyMap<string, SchemaPart> {
  const { schema, root } = resolveSchema(part)
  const { properties } = schema
  if (!isJsonObject(properties)) return new Map()
  const entries = Object.entries(properties).flatMap(([name, value]) =>
    isJsonObject(value) ? [[name, { schema: value, root }] as const] : [],
  )
  return new Map(entries)
}

/** Names of the fields that an object must have. */
export function requiredOf(part: SchemaPart): readonly unknown[] {
  const { required } = resolveSchema(part).schema
  return Array.isArray(required) ? required : []
}
