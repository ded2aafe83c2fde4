/** Pure: formats a JSON Schema in TypeScript syntax. */
import { isJsonObject } from '@tutti/protocol/internal'

import {
  listMembers,
  listSchemaProperties,
  requiredOf,
  typesOf,
  valuesOf,
  type Fields,
  type SchemaPart,
} from './schema-parts.ts'

/** Maximum depth of objects that are written out. */
const MAX_DEPTH = 2

/** Formats a schema in one line: `{ celsius: number, unit?: "C" | "F" }`. */
export function schemaText(schema: Fields): string {
  return formatPart({ schema, root: schema }, MAX_DEPTH)
}

function formatPart(part: SchemaPart, depth: number): string {
  const texts = listMembers(part).flatMap((member) => memberTexts(member, depth))
  return [...new Set(texts)].join(' | ')
}

function memberTexts(member: SchemaPart, depth: number): readonly string[] {
  const values = valuesOf(member)
  if (values !== undefined) return values.map((value) => JSON.stringify(value))
  const types = typesOf(member)
  if (types.length === 0)
    return [listSchemaProperties(member).size > 0 ? objectText(member, depth) : 'any']
  return types.map((type) => {
    if (type === 'object') return objectText(member, depth)
    return type === 'array' ? arrayText(member, depth) : String(type)
  })
}

function objectText(part: SchemaPart, depth: number): string {
  const properties = [...listSchemaProperties(part)]
  if (properties.length === 0) return depth === MAX_DEPTH ? '{}' : 'object'
  if (depth === 0) return '{ … }'
  const required = requiredOf(part)
  const fields = properties.map(
    ([name, value]) =>
      `${name}${required.includes(name) ? '' : '?'}: ${formatPart(value, depth - 1)}`,
  )
  return `{ ${fields.join(', ')} }`
}

function arrayText({ schema, root }: SchemaPart, depth: number): string {
  const { items } = schema
  const text = isJsonObject(items)
    ? formatPart({ schema: items, root }, Math.max(0, depth - 1))
    : 'any'
  return text.includes(' | ') ? `(${text})[]` : `${text}[]`
}
