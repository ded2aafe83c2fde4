/** Reads the certain facts about outputs from their schema. No I/O. */

/** A JSON Schema; undefined for any value, and `none` for a field that a value cannot have. */
export type Shape = object | 'none' | undefined

/** Returns the schema of a field. */
export function findField(shape: Shape, field: string): Shape {
  if (typeof shape !== 'object') return shape
  const { type, properties, additionalProperties, patternProperties } = readKeywords(shape)
  if (type === undefined || isComposed(shape)) return undefined
  if (type !== 'object') return typeof type === 'string' ? 'none' : undefined
  if (typeof properties !== 'object' || properties === null) return undefined
  if (Object.hasOwn(properties, field)) {
    const found: unknown = Reflect.get(properties, field)
    return typeof found === 'object' && found !== null ? found : undefined
  }
  const isOpen = typeof additionalProperties === 'object' || patternProperties !== undefined
  return isOpen || additionalProperties === true ? undefined : 'none'
}

/** Whether a value can be a list. */
export function mayBeList(shape: Shape): boolean {
  return mayBe('array', shape)
}

/** Whether a value can have a type of JSON Schema. */
export function mayBe(kind: 'array' | 'boolean' | 'object', shape: Shape): boolean {
  if (shape === 'none') return false
  if (shape === undefined || isComposed(shape)) return true
  const { type } = readKeywords(shape)
  return Array.isArray(type) ? type.includes(kind) : type === undefined || type === kind
}

interface Keywords {
  readonly type?: unknown
  readonly properties?: unknown
  readonly additionalProperties?: unknown
  readonly patternProperties?: unknown
}

function readKeywords(schema: object): Keywords {
  return schema
}

/** Whether other schemas also say what a value can be. */
function isComposed(schema: object): boolean {
  return ['$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) => Object.hasOwn(schema, keyword))
}
