/** Taking a schema node apart: its own keywords, and whether it allows a value's JSON type. */
import { isJsonObject, type Schema, type SchemaNode } from './schema-node.ts'

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
export function pickLeafKeywords(schema: SchemaNode): SchemaNode {
  let leaf = leaves.get(schema)
  if (leaf === undefined) {
    // Own names and not keys: TypeBox hides `~refine`, which judges, from enumeration.
    const own = Object.getOwnPropertyNames(schema).filter((keyword) => !NOT_OWN.has(keyword))
    leaf = Object.fromEntries(own.map((keyword) => [keyword, Reflect.get(schema, keyword)]))
    leaves.set(schema, leaf)
  }
  return leaf
}

/** False when the schema says which JSON types it allows, and the value's is none of them. */
export function allowsValueType(schema: Schema, value: unknown): boolean {
  return findJsonTypes(schema)?.some((type) => isOfType(type, value)) ?? true
}

/** The JSON types a value of the schema can have, or nothing when it does not say. */
function findJsonTypes(schema: Schema): readonly string[] | undefined {
  if (typeof schema === 'boolean') return undefined
  if (schema.type !== undefined)
    return typeof schema.type === 'string' ? [schema.type] : schema.type
  const members = schema.anyOf ?? schema.oneOf
  if (members !== undefined) {
    const types = members.map(findJsonTypes)
    return types.every((type) => type !== undefined) ? types.flat() : undefined
  }
  return schema.allOf?.map(findJsonTypes).find((types) => types !== undefined)
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isJsonObject(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
    default:
      // Not a JSON type, such as TypeBox's bigint: TypeBox judges.
      return true
  }
}
