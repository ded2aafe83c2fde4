/**
 * Converts the keywords of one schema object to JSON Schema 2020-12. Pure. `schemas.ts` converts nested schemas.
 *
 * REMOTE-K1 Keywords of OpenAPI 3.0 become those of JSON Schema: `nullable`, `exclusiveMinimum: true`, `example`.
 * REMOTE-K2 `default` becomes a part of the description. It is the value that the service assumes; filling it in would
 *    set fields that an update should not change.
 * REMOTE-K3 An unknown type is omitted, as is an `enum` that is too long for a model. Other keywords that cannot be
 *    used are dropped later, with a warning; see `schema/foreign-schema.ts`.
 */
import { isJsonObject } from '@tutti/core/internal'

import type { OpenApiNode } from './document.ts'

/** Keywords that do not constrain the value, or that have a meaning only in the whole document. */
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

/** Lists that mean nothing when they are empty. */
const LISTS = ['required', 'examples', 'allOf', 'prefixItems']

/** Maximum number of values of one `enum`; some documents list every code of an industry. */
const MAX_VALUES = 1000

/** Returns the schema with the keywords of JSON Schema; nested schemas are unchanged. */
export function toJsonSchemaKeywords(schema: OpenApiNode): OpenApiNode {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema)) {
    if (!DROPPED.has(name) && !name.startsWith('x-')) result[name] = value
  }
  for (const name of LISTS) if (isEmptyList(result[name])) delete result[name]
  if (Array.isArray(result['enum']) && result['enum'].length > MAX_VALUES) delete result['enum']
  fixType(result)
  fixBounds(result)
  if (schema['example'] !== undefined && !('examples' in result)) {
    result['examples'] = [schema['example']]
  }
  if (schema['default'] !== undefined) describeDefault(result, schema['default'])
  return schema['nullable'] === true ? allowNull(result) : result
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
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

/** Maximum number of characters of a default that a description shows. */
const SHOWN_DEFAULT_LENGTH = 100

function describeDefault(schema: Record<string, unknown>, value: unknown): void {
  const shown = JSON.stringify(value)
  if (shown.length > SHOWN_DEFAULT_LENGTH) return
  const { description } = schema
  const text = typeof description === 'string' ? description.trim() : ''
  schema['description'] = `${text === '' ? '' : `${text} `}(default: ${shown})`
}

function allowNull(schema: Record<string, unknown>): OpenApiNode {
  const { type, enum: values } = schema
  if (type === undefined) {
    const { description, ...rest } = schema
    if (Object.keys(rest).length === 0) return schema
    const described = description === undefined ? {} : { description }
    return { ...described, anyOf: [rest, { type: 'null' }] }
  }
  return {
    ...schema,
    type: [...new Set([type, 'null'].flat())],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  }
}

/** Keywords that contain one schema, a list of schemas, or schemas by name. */
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

/** Replaces each schema directly within a schema; invalid ones are omitted. */
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
