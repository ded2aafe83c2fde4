/** Checks the schema of an answer as providers would. Pure. */
import { fieldsOf } from './pieces.ts'

type Fields = Readonly<Record<string, unknown>>

/** Keywords that Anthropic rejects; a limit of items is rejected beyond 1. */
const ANTHROPIC_REFUSES = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'oneOf',
  'patternProperties',
]

/** Returns Anthropic's error for a schema, or undefined for a valid one. */
export function findClosedProblem(root: unknown): string | undefined {
  const at = 'output_config.format.schema'
  for (const schema of listSchemas(root)) {
    const { type, additionalProperties, minItems } = schema
    if (type === 'object' && additionalProperties !== false) {
      return `${at}: For 'object' type, 'additionalProperties' must be explicitly set to false`
    }
    const keyword = ANTHROPIC_REFUSES.find((key) => key in schema)
    if (keyword !== undefined) {
      return `${at}: For '${String(type)}' type, property '${keyword}' is not supported`
    }
    if (typeof minItems === 'number' && minItems > 1) {
      return `${at}: For 'array' type, 'minItems' values other than 0 or 1 are not supported`
    }
  }
  return undefined
}

/** Returns OpenAI's error for the format of an answer, or undefined for a valid one. */
export function findFormatProblem({ name, schema, strict }: Fields): string | undefined {
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    return `Invalid 'response_format.json_schema.name': ${JSON.stringify(name)}.`
  }
  const start = `Invalid schema for response_format '${name}':`
  if (fieldsOf(schema)['type'] !== 'object') {
    return `${start} schema must be a JSON Schema of 'type: "object"'.`
  }
  if (strict !== true) return undefined
  for (const { type, properties, required, additionalProperties, ...others } of listSchemas(
    schema,
  )) {
    if (
      'minLength' in others ||
      'maxLength' in others ||
      'oneOf' in others ||
      'default' in others
    ) {
      return `${start} a keyword is not permitted.`
    }
    if (type !== 'object') continue
    if (additionalProperties !== false) {
      return `${start} 'additionalProperties' is required to be supplied and to be false.`
    }
    const names = Object.keys(fieldsOf(properties))
    if (!Array.isArray(required) || names.some((each) => !required.includes(each))) {
      return `${start} 'required' is required to be supplied and to be an array including every key in properties.`
    }
  }
  return undefined
}

/** Yields a schema and all schemas within it. */
function listSchemas(value: unknown): readonly Fields[] {
  const schema = fieldsOf(value)
  const { properties, items, anyOf, oneOf, allOf } = schema
  const inner = [
    ...Object.values(fieldsOf(properties)),
    ...(items === undefined ? [] : [items]),
    ...[anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : [])),
  ]
  return [schema, ...inner.flatMap(listSchemas)]
}
