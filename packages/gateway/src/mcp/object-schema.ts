/**
 * Pure: converts schemas of tools to those of MCP. Up to 2025-11-25 the specification allows only objects as input and
 * output. Other values are wrapped in both eras, so an upgraded client sees the same shape.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
 */
import { isJsonObject } from '@tutti/protocol/internal'

/** A JSON Schema whose values are objects. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

/** Field for a value that is not an object. */
const FIELD = 'result'

/**
 * Returns the schema of arguments, which must be an object even if their schema does not say it. A schema without
 * parameters forbids all, as the specification recommends.
 */
export function toInputSchema(schema: object): ObjectSchema {
  const given = toPlainJson(schema)
  const { properties = {}, ...rest } = given
  const isEmpty = Object.keys(Object(properties)).length === 0
  const isOpen = Object.keys(rest).some((keyword) => !ANNOTATIONS.has(keyword))
  return isEmpty && !isOpen
    ? { ...given, type: 'object', additionalProperties: false }
    : { ...given, type: 'object' }
}

/** Keywords without an effect on the allowed parameters. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'required',
  '$schema',
  '$id',
  '$comment',
])

/** Returns the schema of a structured result. */
export function toOutputSchema(schema: object, id: string): ObjectSchema {
  const given = toPlainJson(schema)
  if (isObjectSchema(given)) return { ...given, type: 'object' }
  return {
    type: 'object',
    properties: { [FIELD]: embedNamedSchema(given, id) },
    required: [FIELD],
  }
}

/** Converts a value to a structured result that matches `toOutputSchema`; without a schema, to an object. */
export function toStructuredContent(
  value: unknown,
  schema: object | undefined,
): Record<string, unknown> {
  const isWrapped = schema === undefined ? !isJsonObject(value) : !isObjectSchema(schema)
  // NOTE: a value of an object schema is an object; without a schema it was checked.
  return isWrapped ? { [FIELD]: value } : (value as Record<string, unknown>)
}

/**
 * Returns a schema that can be nested in another. A schema with references gets the URI `id`, so that `#` still refers
 * to it.
 */
export function embedNamedSchema(schema: object, id: string): object {
  const given = toPlainJson(schema)
  const refers = JSON.stringify(given).includes('"$ref"')
  return refers && !('$id' in given) ? { $id: id, ...given } : given
}

function isObjectSchema(schema: object): boolean {
  return 'type' in schema && schema.type === 'object'
}

/** Converts a schema to plain JSON, without the symbols and functions that libraries add. */
function toPlainJson(schema: object): Readonly<Record<string, unknown>> {
  // NOTE: the JSON of an object is an object.
  return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>
}
