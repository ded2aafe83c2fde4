/** Where a JSON Schema holds other schemas, by keyword. */
import { isJsonObject, pointer } from '@tutti/protocol'

/** Something that stands where a schema should be, with its JSON pointer below the schema round it. */
export interface SubSchema {
  readonly path: string
  readonly schema: unknown
}

/** Keywords that hold one schema; `items` holds a list of them in a tuple of draft 7. */
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

/** Keywords that hold a list of schemas. */
const LISTS = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']

/** Keywords that hold schemas by name; `dependencies` of draft 7 may hold lists of names too. */
const MAPS = [
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]

/** The schemas directly inside a node; not what its `enum`, `const`, `default` and the like hold. */
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
