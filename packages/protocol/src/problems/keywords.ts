/** Taking a schema node apart: its own keywords, and the JSON types it allows. */
import type { Schema, SchemaNode } from './schema-node.ts'

/** Keywords that lead to other schemas or say nothing; the walk follows the first and skips the rest. */
const NOT_OWN: ReadonlySet<string> = new Set([
  '$id',
  '$ref',
  '$defs',
  'definitions',
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'items',
  'prefixItems',
  'additionalItems',
  'anyOf',
  'oneOf',
  'allOf',
  'if',
  'then',
  'else',
  'title',
  'description',
  'default',
  'examples',
])

const leaves = new WeakMap<SchemaNode, SchemaNode>()

/** The node with only the keywords that judge its own place: type, bounds, pattern, format … */
export function leafOf(schema: SchemaNode): SchemaNode {
  let leaf = leaves.get(schema)
  if (leaf === undefined) {
    // Own names and not keys: TypeBox hides `~refine`, which judges, from enumeration.
    const own = Object.getOwnPropertyNames(schema).filter((keyword) => !NOT_OWN.has(keyword))
    leaf = Object.fromEntries(own.map((keyword) => [keyword, Reflect.get(schema, keyword)]))
    leaves.set(schema, leaf)
  }
  return leaf
}

/** The JSON types a value of the node can have, or nothing when it does not say. */
export function jsonTypesOf(schema: Schema): readonly string[] | undefined {
  if (typeof schema === 'boolean') return undefined
  if (schema.type !== undefined) return typeof schema.type === 'string' ? [schema.type] : schema.type
  const members = schema.anyOf ?? schema.oneOf
  if (members !== undefined) {
    const types = members.map(jsonTypesOf)
    return types.every((type) => type !== undefined) ? types.flat() : undefined
  }
  return schema.allOf?.map(jsonTypesOf).find((types) => types !== undefined)
}
