/** Decomposition of a schema node: the keywords of its location, and whether it allows a value's JSON type. */
import { isJsonObject, type Schema, type SchemaNode } from '../schema-node.ts'

/** Keywords that lead to other schemas, which the walk follows, or have no effect on validation. */
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
  'dependentSchemas',
  'unevaluatedItems',
  'unevaluatedProperties',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$schema',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
])

const leaves = new WeakMap<SchemaNode, SchemaNode>()

/** Returns the node with only the keywords that apply to the location itself: type, bounds, pattern, format … */
export function pickLeafKeywords(schema: SchemaNode): SchemaNode {
  let leaf = leaves.get(schema)
  if (leaf === undefined) {
    // Own names instead of keys, because `~refine` of TypeBox is not enumerable.
    const own = Object.getOwnPropertyNames(schema).filter((keyword) => !NOT_OWN.has(keyword))
    leaf = Object.fromEntries(own.map((keyword) => [keyword, Reflect.get(schema, keyword)]))
    leaves.set(schema, leaf)
  }
  return leaf
}

/** Whether the schema allows the JSON type of the value; true if it does not restrict it. */
export function allowsValueType(schema: Schema, value: unknown): boolean {
  return findJsonTypes(schema)?.some((type) => isOfType(type, value)) ?? true
}

/** Returns the JSON types that a schema allows; undefined if it does not restrict them. */
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
      // Other types, such as TypeBox's bigint, are left to TypeBox.
      return true
  }
}
