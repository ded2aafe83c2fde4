/** Describes JSON Schemas of the OpenAPI document in Markdown. */
import { isJsonObject } from '@tutti/protocol/internal'

import { code, table } from '../reference/markdown.ts'

type Schema = Readonly<Record<string, unknown>>

/** Keywords that the tables show; a schema with others refers to the document. */
const SHOWN = new Set(
  'description type properties required additionalProperties anyOf allOf items enum const $ref discriminator minProperties pattern'.split(
    ' ',
  ),
)

const ANY = 'any JSON'

/** Bounds from which a number only says that a double or a safe integer holds it. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER

/** Page of the schemas, next to the pages of the operations. */
const SCHEMAS_PAGE = 'schemas.md'

/** Returns the section of a named schema. */
export function schemaSection(name: string, schema: Schema): readonly string[] {
  const hasMore = Object.keys(schema).some((keyword) => !SHOWN.has(keyword))
  return [
    `## ${name}`,
    '',
    ...(typeof schema['description'] === 'string' ? [schema['description'], ''] : []),
    ...describeContent(schema),
    ...(hasMore
      ? [
          'Some combinations of these fields are invalid; [openapi.json](../openapi.json) has the conditions.',
          '',
        ]
      : []),
  ]
}

/** Returns the type of a schema as text with links to named schemas. */
export function typeText(schema: unknown): string {
  if (!isJsonObject(schema)) return ANY
  const {
    $ref,
    const: value,
    enum: values,
    anyOf,
    allOf,
    items,
    type,
    additionalProperties,
  } = schema
  if (typeof $ref === 'string') return linkTo($ref.slice($ref.lastIndexOf('/') + 1))
  if (Array.isArray(values)) return values.map((each) => code(String(each))).join(', ')
  if (value !== undefined) return code(JSON.stringify(value))
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeText))].join(' or ')
  // Members without a type only narrow the others.
  if (Array.isArray(allOf)) {
    return allOf
      .map(typeText)
      .filter((text) => text !== ANY)
      .join(' and ')
  }
  if (items !== undefined) return `list of ${typeText(items)}${boundsOf(schema, 'Items')}`
  if (isJsonObject(additionalProperties)) return `map of ${typeText(additionalProperties)}`
  if (typeof type !== 'string') return ANY
  const { format, pattern } = schema
  if (typeof format === 'string') return `${type} (${format})`
  const form = typeof pattern === 'string' && pattern !== String.raw`\S` ? ` ${code(pattern)}` : ''
  return `${type}${form}${boundsOf(schema, 'Length')}${rangeOf(schema)}`
}

function linkTo(name: string): string {
  return `[${name}](${SCHEMAS_PAGE}#${name.toLowerCase()})`
}

function boundsOf(schema: Schema, of: 'Items' | 'Length'): string {
  const { [`min${of}`]: min, [`max${of}`]: max } = schema
  if (min === 1 && max === undefined) return ' (not empty)'
  return formatRange(min, max, of === 'Items' ? ' items' : ' characters')
}

function rangeOf({ minimum, maximum, exclusiveMinimum }: Schema): string {
  if (typeof exclusiveMinimum === 'number') {
    return ` (above ${exclusiveMinimum}${isBound(maximum) ? `, at most ${maximum}` : ''})`
  }
  return formatRange(minimum, maximum, '')
}

function formatRange(min: unknown, max: unknown, unit: string): string {
  if (isBound(min) && isBound(max)) return ` (${min} to ${max}${unit})`
  if (isBound(max)) return ` (at most ${max}${unit})`
  return isBound(min) && min !== 0 ? ` (at least ${min}${unit})` : ''
}

function isBound(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < UNBOUNDED
}

function describeContent(schema: Schema): readonly string[] {
  const rows = fieldRows(schema, '')
  if (rows.length > 0) return [...table(['field', 'type', 'meaning'], rows), '']
  const { anyOf } = schema
  if (!Array.isArray(anyOf)) return [`Type: ${typeText(schema)}`, '']
  const members = anyOf.filter(isJsonObject)
  return [
    'One of:',
    '',
    ...members.flatMap((member) => {
      const own = fieldRows(member, '')
      return own.length === 0
        ? [`- ${typeText(member)}`]
        : [...table(['field', 'type', 'meaning'], own), '']
    }),
    '',
  ]
}

/** Returns the rows of all fields; those of objects without a name follow their field. */
function fieldRows(schema: Schema, prefix: string): readonly (readonly string[])[] {
  const { properties, required } = schema
  if (!isJsonObject(properties)) return []
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(properties).flatMap(([name, field]) => {
    if (!isJsonObject(field)) return []
    const path = `${prefix}${name}`
    const { description, items } = field
    return [
      [
        code(needed.includes(name) ? path : `${path}?`),
        typeText(field),
        typeof description === 'string' ? description : '',
      ],
      ...fieldRows(field, `${path}.`),
      ...(isJsonObject(items) ? fieldRows(items, `${path}[].`) : []),
    ]
  })
}
