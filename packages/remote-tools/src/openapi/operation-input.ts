/**
 * Builds the input of the tool of an operation: one object with a field for each parameter and for the body.
 *
 * REMOTE-I1 A parameter is a field with its name. Characters that model providers refuse in names become `_`. Two
 *    parameters with the same name get their location as a prefix: `query_id`.
 * REMOTE-I2 The fields of a body are on the same level as the parameters if the body is a required JSON or form object
 *    whose fields are declared and have other names than the parameters. Otherwise the body is one field, `body`.
 */
import { asObject, type OpenApiNode, type OpenApiReader } from './document.ts'

import type { OperationParameter } from './parameters.ts'
import type { RequestBody } from './request-body.ts'
import type { Schemas } from './schemas.ts'

/** The layout of an input: its fields with their targets. */
export interface OperationInput {
  /** JSON Schema of the input. */
  readonly schema: OpenApiNode
  readonly parameters: readonly ParameterField[]
  readonly body: RequestBodyFields | undefined
}

/** A field of the input for a parameter. */
export interface ParameterField {
  readonly field: string
  readonly parameter: OperationParameter
}

/** Fields of the input for the body: one for the whole body, or one for each of its fields. */
export interface RequestBodyFields {
  readonly body: RequestBody
  /** Body fields by input field; undefined when `field` is the whole body. */
  readonly fields: ReadonlyMap<string, string> | undefined
  readonly field: string
}

/** The parameters and the body of an operation. */
export interface OperationParts {
  readonly parameters: readonly OperationParameter[]
  readonly body: RequestBody | undefined
}

export function buildOperationInput(
  document: OpenApiReader,
  { parameters, body }: OperationParts,
  schemas: Schemas,
): OperationInput {
  const fields = nameParameters(parameters)
  const taken = new Set(fields.map(({ field }) => field))
  const bodyFields = body === undefined ? undefined : layOutBody(document, body, taken)
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  for (const { field, parameter } of fields) {
    const { description, schema } = parameter
    properties[field] = addDescription(schema, description)
    if (parameter.required) required.push(field)
  }
  if (bodyFields?.fields !== undefined) {
    const { properties: inside, required: needed } = readFieldSchemas(
      document,
      bodyFields.body.schema,
    )
    const isNeeded = new Set(Array.isArray(needed) ? needed : [])
    for (const [field, name] of bodyFields.fields) {
      properties[field] = asObject(inside)[name]
      if (isNeeded.has(name)) required.push(field)
    }
  } else if (bodyFields !== undefined) {
    const { field, body: one } = bodyFields
    properties[field] = addDescription(one.schema, one.description)
    if (one.required) required.push(field)
  }
  const schema = schemas.standalone({ type: 'object', properties, required }, 'input')
  return { schema, parameters: fields, body: bodyFields }
}

function nameParameters(parameters: readonly OperationParameter[]): readonly ParameterField[] {
  const clean = parameters.map(({ name }) => toFieldName(name))
  const taken = new Set<string>()
  return parameters.map((parameter, index) => {
    const own = clean[index] ?? ''
    const isShared = clean.filter((name) => name === own).length > 1
    const preferred = isShared ? toFieldName(`${parameter.location}_${parameter.name}`) : own
    let field = preferred
    for (let number = 2; taken.has(field); number += 1)
      field = `${preferred.slice(0, 60)}_${number}`
    taken.add(field)
    return { field, parameter }
  })
}

/** Converts a name to a field name that model providers accept: letters, digits, `_`, `.` and `-`, at most 64. */
function toFieldName(name: string): string {
  return (
    name
      .replaceAll(/[^\w.-]+/g, '_')
      .replaceAll(/(?<=.)_+$/g, '')
      .slice(0, 64) || 'field'
  )
}

function layOutBody(
  document: OpenApiReader,
  body: RequestBody,
  taken: ReadonlySet<string>,
): RequestBodyFields {
  const field = taken.has('body') ? 'request_body' : 'body'
  const whole: RequestBodyFields = { body, fields: undefined, field }
  if (!body.required || body.kind === 'text' || body.kind === 'bytes') return whole
  const { properties, rest } = readFieldSchemas(document, body.schema)
  const names = Object.keys(asObject(properties))
  const clean = names.map((name) => toFieldName(name))
  const isClear = new Set(clean).size === names.length && !clean.some((name) => taken.has(name))
  if (names.length === 0 || rest || !isClear) return whole
  return { body, field, fields: new Map(clean.map((name, index) => [name, names[index] ?? ''])) }
}

/** Keywords of an object schema that is described completely by its fields. */
const PLAIN: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'title',
  'description',
  'example',
  'examples',
  'deprecated',
  'externalDocs',
  'xml',
])

/** Returns the fields of a body without read-only ones; `rest` is true if the schema has other constraints. */
function readFieldSchemas(
  document: OpenApiReader,
  schema: unknown,
): { readonly properties: OpenApiNode; readonly required: unknown; readonly rest: boolean } {
  const resolved = document.resolve(schema)
  const properties = Object.fromEntries(
    Object.entries(asObject(resolved['properties'])).filter(
      ([, part]) => document.resolve(part)['readOnly'] !== true,
    ),
  )
  const rest = Object.entries(resolved).some(([name, value]) => {
    if (PLAIN.has(name) || name.startsWith('x-')) return false
    return !(name === 'additionalProperties' && value === false)
  })
  return { properties, required: resolved['required'], rest }
}

/** Adds a description to a schema that has none. */
function addDescription(schema: unknown, description: string | undefined): unknown {
  const { $ref, ...own } = asObject(schema)
  if (description === undefined || description.trim() === '') return schema
  if ($ref !== undefined) return { description, allOf: [{ $ref }] }
  return own['description'] === undefined ? { ...own, description } : own
}
