/**
 * The input of the tool of an operation: one object with a field for each parameter and for the body.
 *
 * I1 A parameter is a field of its own name. Characters that model providers refuse in names become
 *    `_`, and where two parameters share a name, both have their place before it: `query_id`.
 * I2 The fields of a body stand beside the parameters when it is a required JSON or form object with
 *    fields of its own and none has the name of a parameter; otherwise the body is one field, `body`.
 */
import { asObject, type OpenApiNode, type OpenApiReader } from './document.ts'

import type { OperationParameter } from './parameters.ts'
import type { RequestBody } from './request-body.ts'
import type { Schemas } from './schemas.ts'

/** Which field of the input goes where. */
export interface OperationInput {
  /** JSON Schema of the input. */
  readonly schema: OpenApiNode
  readonly parameters: readonly ParameterField[]
  readonly body: RequestBodyFields | undefined
}

/** A field of the input that is a parameter. */
export interface ParameterField {
  readonly field: string
  readonly parameter: OperationParameter
}

/** The field that is the body, or the fields that are the body's. */
export interface RequestBodyFields {
  readonly body: RequestBody
  /** Field of the input → field of the body; undefined when `field` is the whole. */
  readonly fields: ReadonlyMap<string, string> | undefined
  readonly field: string
}

/** What the input is made of. */
export interface OperationParts {
  readonly parameters: readonly OperationParameter[]
  readonly body: RequestBody | undefined
}

/** Lays out the input of an operation. */
export function operationInput(
  document: OpenApiReader,
  { parameters, body }: OperationParts,
  schemas: Schemas,
): OperationInput {
  const fields = parameterFields(parameters)
  const taken = new Set(fields.map(({ field }) => field))
  const bodyFields = body === undefined ? undefined : bodyFieldsOf(document, body, taken)
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  for (const { field, parameter } of fields) {
    const { description, schema } = parameter
    properties[field] = described(schema, description)
    if (parameter.required) required.push(field)
  }
  if (bodyFields?.fields !== undefined) {
    const { properties: inside, required: needed } = fieldSchemas(document, bodyFields.body.schema)
    const isNeeded = new Set(Array.isArray(needed) ? needed : [])
    for (const [field, name] of bodyFields.fields) {
      properties[field] = asObject(inside)[name]
      if (isNeeded.has(name)) required.push(field)
    }
  } else if (bodyFields !== undefined) {
    const { field, body: one } = bodyFields
    properties[field] = described(one.schema, one.description)
    if (one.required) required.push(field)
  }
  const schema = schemas.standalone({ type: 'object', properties, required }, 'input')
  return { schema, parameters: fields, body: bodyFields }
}

function parameterFields(parameters: readonly OperationParameter[]): readonly ParameterField[] {
  const clean = parameters.map(({ name }) => fieldName(name))
  const taken = new Set<string>()
  return parameters.map((parameter, index) => {
    const own = clean[index] ?? ''
    const isShared = clean.filter((name) => name === own).length > 1
    const wished = isShared ? fieldName(`${parameter.place}_${parameter.name}`) : own
    let field = wished
    for (let number = 2; taken.has(field); number += 1) field = `${wished.slice(0, 60)}_${number}`
    taken.add(field)
    return { field, parameter }
  })
}

/** A name that providers of models take for a field: letters, digits, `_`, `.` and `-`, at most 64. */
function fieldName(name: string): string {
  return (
    name
      .replaceAll(/[^\w.-]+/g, '_')
      .replaceAll(/(?<=.)_+$/g, '')
      .slice(0, 64) || 'field'
  )
}

function bodyFieldsOf(
  document: OpenApiReader,
  body: RequestBody,
  taken: ReadonlySet<string>,
): RequestBodyFields {
  const field = taken.has('body') ? 'request_body' : 'body'
  const whole: RequestBodyFields = { body, fields: undefined, field }
  if (!body.required || body.kind === 'text' || body.kind === 'bytes') return whole
  const { properties, rest } = fieldSchemas(document, body.schema)
  const names = Object.keys(asObject(properties))
  const clean = names.map((name) => fieldName(name))
  const isClear = new Set(clean).size === names.length && !clean.some((name) => taken.has(name))
  if (names.length === 0 || rest || !isClear) return whole
  return { body, field, fields: new Map(clean.map((name, index) => [name, names[index] ?? ''])) }
}

/** Keywords that may stand beside the fields of an object for these to be all there is to it. */
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

/** The fields of a body that the service does not set itself, and whether there is more to it. */
function fieldSchemas(
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

/** A schema with the description of what it is the schema of, when it has none. */
function described(schema: unknown, description: string | undefined): unknown {
  const { $ref, ...own } = asObject(schema)
  if (description === undefined || description.trim() === '') return schema
  if ($ref !== undefined) return { description, allOf: [{ $ref }] }
  return own['description'] === undefined ? { ...own, description } : own
}
