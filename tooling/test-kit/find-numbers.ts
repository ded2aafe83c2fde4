/** Finds the numbers of a JSON Schema, for tests of their bounds. */

/** A number of a schema. */
export interface SchemaNumber {
  /** Path in the schema, such as `/properties/limit`. */
  readonly path: string
  readonly isInteger: boolean
  /** Its minimum or exclusive minimum. */
  readonly least: number | undefined
  /** Its maximum or exclusive maximum. */
  readonly most: number | undefined
}

/** Returns every number of a schema at any depth. */
export function findNumbers(schema: unknown, path = ''): readonly SchemaNumber[] {
  if (typeof schema !== 'object' || schema === null) return []
  const node = new Map<string, unknown>(Object.entries(schema))
  const inner = [...node].flatMap(([key, part]) => findNumbers(part, `${path}/${key}`))
  const types = [node.get('type')].flat()
  if (!types.includes('number') && !types.includes('integer')) return inner
  const own: SchemaNumber = {
    path,
    isInteger: !types.includes('number'),
    least: toNumber(node.get('minimum') ?? node.get('exclusiveMinimum')),
    most: toNumber(node.get('maximum') ?? node.get('exclusiveMaximum')),
  }
  return [own, ...inner]
}

function toNumber(bound: unknown): number | undefined {
  return typeof bound === 'number' ? bound : undefined
}
