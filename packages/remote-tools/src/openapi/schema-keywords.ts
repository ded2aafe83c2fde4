/**
 * The keywords of one schema object as JSON Schema 2020-12 has them. Pure; what is inside is the
 * business of `schemas.ts`.
 *
 * K1 What OpenAPI 3.0 writes in its own way is written as JSON Schema has it: `nullable`,
 *    `exclusiveMinimum: true`, `example`.
 * K2 `default` becomes a sentence of the description. It says what the service assumes; to fill it in
 *    would set fields that a change did not mean to touch.
 * K3 What cannot be checked (a pattern that is none, an unknown type) is left out, and so is a list of
 *    values that is longer than a model should read.
 */
import { isJsonObject } from '@tutti/core'

import { type OpenApiNode } from './document.ts'

/** Keywords that say nothing about the value, or that have a meaning in the whole document only. */
const DROPPED: ReadonlySet<string> = new Set([
  '$anchor',
  '$comment',
  '$dynamicAnchor',
  '$dynamicRef',
  '$id',
  '$schema',
  '$vocabulary',
  '$defs',
  'default',
  'definitions',
  'deprecated',
  'discriminator',
  'example',
  'externalDocs',
  'nullable',
  'readOnly',
  'writeOnly',
  'xml',
])

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
])

/** Keywords whose value must be a list, or a number, for the schema to be one. */
const LISTS = ['enum', 'required', 'examples', 'allOf', 'anyOf', 'prefixItems']
const NUMBERS = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]

/** Values of one `enum`, at most; real documents list every code of a trade. */
const MAX_VALUES = 1000

/** The schema with the keywords of JSON Schema, its parts as they were. */
export function toJsonSchemaKeywords(schema: OpenApiNode): OpenApiNode {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema)) {
    if (!DROPPED.has(name) && !name.startsWith('x-')) result[name] = value
  }
  for (const name of LISTS) if (!isFullList(result[name])) delete result[name]
  if (Array.isArray(result['enum']) && result['enum'].length > MAX_VALUES) delete result['enum']
  for (const name of NUMBERS) if (typeof result[name] !== 'number') delete result[name]
  fixType(result)
  fixBounds(result)
  if (!isPattern(result['pattern'])) delete result['pattern']
  if (schema['example'] !== undefined && !('examples' in result)) {
    result['examples'] = [schema['example']]
  }
  if (schema['default'] !== undefined) noteDefault(result, schema['default'])
  return schema['nullable'] === true ? orNull(result) : result
}

function isFullList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}

function fixType(schema: Record<string, unknown>): void {
  const { type } = schema
  if (type === undefined) return
  const types = [type].flat().filter((one) => TYPES.has(one))
  if (types.length === 0) delete schema['type']
  else schema['type'] = types.length === 1 ? types[0] : types
}

function fixBounds(schema: Record<string, unknown>): void {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = schema[exclusive]
    if (typeof value === 'number' || value === undefined) continue
    delete schema[exclusive]
    if (value !== true || schema[bound] === undefined) continue
    schema[exclusive] = schema[bound]
    delete schema[bound]
  }
}

/** Characters of a default that are shown. */
const SHOWN_DEFAULT_LENGTH = 100

function noteDefault(schema: Record<string, unknown>, value: unknown): void {
  const text = JSON.stringify(value)
  if (text.length > SHOWN_DEFAULT_LENGTH) return
  const { description } = schema
  const said = typeof description === 'string' ? description.trim() : ''
  schema['description'] = `${said === '' ? '' : `${said} `}(default: ${text})`
}

function orNull(schema: Record<string, unknown>): OpenApiNode {
  const { type, enum: values } = schema
  if (type === undefined) {
    const { description, ...rest } = schema
    if (Object.keys(rest).length === 0) return schema
    const said = description === undefined ? {} : { description }
    return { ...said, anyOf: [rest, { type: 'null' }] }
  }
  return {
    ...schema,
    type: [...new Set([type, 'null'].flat())],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  }
}

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    void new RegExp(value, 'u')
    return true
  } catch {
    return false
  }
}

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const ONE = [
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
const MANY = ['allOf', 'anyOf', 'prefixItems']
const NAMED = ['dependentSchemas', 'patternProperties', 'properties']

/** The schema with each schema directly within it replaced; what should be one and is not is left out. */
export function mapSubSchemas(schema: OpenApiNode, map: (part: unknown) => unknown): OpenApiNode {
  const result: Record<string, unknown> = { ...schema }
  for (const name of ONE) {
    if (!(name in result)) continue
    const part = result[name]
    if (isJsonObject(part) || typeof part === 'boolean') result[name] = map(part)
    else delete result[name]
  }
  for (const name of MANY) {
    const parts = result[name]
    if (Array.isArray(parts)) result[name] = parts.map((part) => map(part))
  }
  for (const name of NAMED) {
    const parts = result[name]
    if (isJsonObject(parts)) {
      result[name] = Object.fromEntries(
        Object.entries(parts).map(([key, part]) => [key, map(part)]),
      )
    } else delete result[name]
  }
  return result
}
