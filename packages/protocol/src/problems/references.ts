/** References within one schema document. */

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
