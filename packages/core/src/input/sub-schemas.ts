/** Sub-schemas of a JSON Schema, by keyword. */
import { isJsonObject, pointer } from '@tutti/protocol/internal'

/** Value where a schema is expected, with its JSON pointer below the surrounding schema. */
export interface SubSchema {
  readonly path: string
  readonly schema: unknown
}

/** Keywords with one schema; `items` has a list of them in a tuple of draft 7. */
const SINGLE = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]

/** Keywords with a list of schemas. */
const LISTS = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']

/** Keywords with schemas by name; `dependencies` of draft 7 can also have lists of names. */
const MAPS = [
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]

/** Returns the schemas directly inside a node; not the content of its `enum`, `const`, `default` and the like. */
export function listSubSchemas(node: object): SubSchema[] {
  const found: SubSchema[] = []
  for (const [keyword, value] of Object.entries(node)) {
    const path = pointer('', keyword)
    if (Array.isArray(value)) {
      if (LISTS.includes(keyword)) found.push(...listFromArray(path, value))
    } else if (MAPS.includes(keyword)) {
      if (isJsonObject(value)) found.push(...listFromMap(path, value))
    } else if (SINGLE.includes(keyword)) {
      found.push({ path, schema: value })
    }
  }
  return found
}

function listFromArray(path: string, schemas: readonly unknown[]): SubSchema[] {
  return schemas.map((schema, index) => ({ path: pointer(path, index), schema }))
}

function listFromMap(path: string, schemas: Readonly<Record<string, unknown>>): SubSchema[] {
  return Object.entries(schemas)
    .filter(([, schema]) => !Array.isArray(schema))
    .map(([name, schema]) => ({ path: pointer(path, name), schema }))
}
