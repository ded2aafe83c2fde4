/** Resolution of `$ref` within one schema document. */
import { valueAt } from './json-pointer.ts'
import { isJsonObject, ownValue, type Schema, type SchemaNode } from './schema-node.ts'

/**
 * Returns the target of a `$ref`: a JSON pointer from the root (`#/$defs/Node`), or the id of a definition of a
 * surrounding schema. Returns undefined for other references, which only TypeBox judges.
 */
export function resolveReference(
  reference: unknown,
  scopes: readonly SchemaNode[],
): Schema | undefined {
  if (typeof reference !== 'string') return undefined
  if (reference === '#') return scopes[0]
  if (reference.startsWith('#/')) return asSchema(valueAt(scopes[0], decodeURIComponent(reference)))
  const definitions = scopes.map((scope) => ownValue(scope.$defs ?? {}, reference))
  return definitions.findLast((definition) => definition !== undefined)
}

const referring = new WeakMap<object, boolean>()

/** Whether the schema contains a `$ref`: its parts are then valid only within the whole. */
export function hasReferences(schema: object): boolean {
  let found = referring.get(schema)
  if (found === undefined) {
    found = '$ref' in schema || Object.values(schema).some(isObjectWithReferences)
    referring.set(schema, found)
  }
  return found
}

function isObjectWithReferences(value: unknown): boolean {
  return typeof value === 'object' && value !== null && hasReferences(value)
}

function asSchema(value: unknown): Schema | undefined {
  return typeof value === 'boolean' || isJsonObject(value) ? value : undefined
}
