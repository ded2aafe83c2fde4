/** Following `$ref` inside one schema document. */
import { isJsonObject, ownValue, type Schema, type SchemaNode } from './schema-node.ts'

/**
 * The schema that a `$ref` means: a JSON pointer from the root (`#/$defs/Node`), or the id of a
 * definition of a schema round it. Nothing when it is neither; then TypeBox alone judges.
 */
export function resolveReference(
  reference: unknown,
  scopes: readonly SchemaNode[],
): Schema | undefined {
  if (typeof reference !== 'string') return undefined
  if (reference === '#') return scopes[0]
  if (reference.startsWith('#/')) return asSchema(follow(scopes[0], reference))
  return scopes.findLast((scope) => byId(scope, reference) !== undefined)?.$defs?.[reference]
}

function byId(scope: SchemaNode, id: string): Schema | undefined {
  return ownValue(scope.$defs ?? {}, id)
}

function follow(root: unknown, reference: string): unknown {
  let current = root
  for (const part of reference.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof current !== 'object' || current === null) return undefined
    current = Reflect.get(current, key)
  }
  return current
}

function asSchema(value: unknown): Schema | undefined {
  return typeof value === 'boolean' || isJsonObject(value) ? value : undefined
}
