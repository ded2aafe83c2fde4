/**
 * Pure: schemas of tools as MCP requires them. The specification up to 2025-11-25 has only objects as input and
 * output. Other values are wrapped in both eras, so that a client that moves to the new one sees the same shape.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
 */
import { isJsonObject } from '@tutti/protocol'

/** A JSON Schema whose values are objects. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

/** Field for a value that is not an object. */
const FIELD = 'result'

/**
 * The schema of arguments, which are always an object, also where their schema leaves that open. One without
 * parameters forbids others, as the specification recommends.
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

/** Keywords that say nothing about which parameters there are. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'required',
  '$schema',
  '$id',
  '$comment',
])

/** The schema of a structured result. */
export function toOutputSchema(schema: object, id: string): ObjectSchema {
  const given = toPlainJson(schema)
  if (isObjectSchema(given)) return { ...given, type: 'object' }
  return {
    type: 'object',
    properties: { [FIELD]: embedNamedSchema(given, id) },
    required: [FIELD],
  }
}

/** A structured result that fits `outputSchemaOf` its schema; without one, an object at any rate. */
export function toStructuredContent(
  value: unknown,
  schema: object | undefined,
): Record<string, unknown> {
  const isWrapped = schema === undefined ? !isJsonObject(value) : !isObjectSchema(schema)
  // NOTE: what fits a schema of objects is an object; without a schema it was looked at.
  return isWrapped ? { [FIELD]: value } : (value as Record<string, unknown>)
}

/**
 * A schema that can stand inside of another: one that refers to its own parts gets a name of its own, so that
 * `#` still refers to it. `id` is that name, a URI.
 */
export function embedNamedSchema(schema: object, id: string): object {
  const given = toPlainJson(schema)
  const refers = JSON.stringify(given).includes('"$ref"')
  return refers && !('$id' in given) ? { $id: id, ...given } : given
}

function isObjectSchema(schema: object): boolean {
  return 'type' in schema && schema.type === 'object'
}

/** A schema as JSON: what libraries hang on theirs is left behind. */
function toPlainJson(schema: object): Readonly<Record<string, unknown>> {
  // NOTE: the JSON of an object that is a schema is that of an object.
  return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>
}
