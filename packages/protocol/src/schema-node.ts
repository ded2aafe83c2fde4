/**
 * JSON Schema node as read by the checker and by the descriptions of problems.
 *
 * Schemas come from TypeBox, and tool inputs also from Zod, MCP or OpenAPI as plain JSON Schema. Therefore only plain
 * keywords are read, not TypeBox kinds. Keywords that are not listed are left to TypeBox's checker.
 */

/** Keywords that shape a value; each can be absent. */
export interface SchemaNode {
  readonly $id?: unknown
  readonly $ref?: unknown
  readonly $dynamicRef?: unknown
  readonly $recursiveRef?: unknown
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: unknown
  readonly format?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  /** TypeBox's types use `undefined` where no field is required. */
  readonly required?: readonly string[] | undefined
  readonly additionalProperties?: Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly items?: Schema | readonly Schema[]
  readonly prefixItems?: readonly Schema[]
  readonly additionalItems?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly not?: Schema
  readonly if?: Schema
  readonly then?: Schema
  readonly else?: Schema
  readonly dependentSchemas?: Readonly<Record<string, Schema>>
  /** Of draft 7: schemas or lists of names. */
  readonly dependencies?: Readonly<Record<string, unknown>>
  readonly unevaluatedProperties?: unknown
  readonly unevaluatedItems?: unknown
  readonly default?: unknown
  readonly uniqueItems?: boolean
}

/** Schema node, `true` for any value, or `false` for no value. */
export type Schema = SchemaNode | boolean

/** Whether a value is a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the values of a node that allows only fixed ones; undefined for other nodes. */
export function findFixedValues(schema: Schema): readonly unknown[] | undefined {
  if (typeof schema === 'boolean') return undefined
  if (Object.hasOwn(schema, 'const')) return [schema.const]
  if (schema.enum !== undefined) return schema.enum
  return schema.type === 'null' ? [null] : undefined
}

/** Returns the own value of a key, never an inherited one such as `constructor`. */
export function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
