/** Pure: converts `key=value` arguments to the input of a tool, with the types of its schema. */
import { isJsonObject, suggest } from '@tutti/protocol/internal'

import { CommandError } from '../command-error.ts'
import {
  listMembers,
  listSchemaProperties,
  resolveSchema,
  typesOf,
  valuesOf,
  type Fields,
  type SchemaPart,
} from './schema-parts.ts'
import { schemaText } from './schema-text.ts'

/**
 * Returns the input object. A repeated key, and a key whose schema is an array, becomes an array.
 *
 * @throws {CommandError} USAGE for an argument that is not `key=value`, and for an unknown key.
 */
export function toolInput(pairs: readonly string[], schema: Fields): Record<string, unknown> {
  const root: SchemaPart = { schema, root: schema }
  const known = listSchemaProperties(root)
  const given = new Map<string, string[]>()
  for (const pair of pairs) {
    const [key, text] = splitPair(pair)
    if (known.size > 0 && !known.has(key)) throw unknownKey(key, [...known.keys()], schema)
    given.set(key, [...(given.get(key) ?? []), text])
  }
  const entries = [...given].map(
    ([key, texts]) => [key, fieldValue(known.get(key), texts)] as const,
  )
  return Object.fromEntries(entries)
}

function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=')
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)]
  throw new CommandError('USAGE', `Expected key=value, got "${pair}"`, [
    'For a complete input: --input JSON, --input @file, or --input - for standard input',
  ])
}

function unknownKey(key: string, known: readonly string[], schema: Fields): CommandError {
  const near = suggest(key, known)
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`
  return new CommandError('USAGE', `Unknown input "${key}"${hint}`, [
    `The tool takes ${schemaText(schema)}`,
  ])
}

function fieldValue(part: SchemaPart | undefined, texts: readonly string[]): unknown {
  const [first = ''] = texts
  const list = part === undefined ? undefined : listMembers(part).find(isList)
  if (list === undefined) {
    const values = texts.map((text) => parseValue(part, text))
    return values.length === 1 ? values[0] : values
  }
  const whole = texts.length === 1 ? tryParseJson(first) : undefined
  if (Array.isArray(whole)) return whole
  const { items } = list.schema
  const itemPart = isJsonObject(items) ? { schema: items, root: list.root } : undefined
  return texts.map((text) => parseValue(itemPart, text))
}

function isList(part: SchemaPart): boolean {
  return typesOf(part).includes('array')
}

/** Converts a text to a value. Returns the text itself if it matches no type, so that the server reports the problem. */
function parseValue(part: SchemaPart | undefined, text: string): unknown {
  if (part === undefined) return parseUntyped(text)
  const members = listMembers(resolveSchema(part))
  for (const listed of members.map(valuesOf)) {
    const found = listed?.find((value) => toPlainText(value) === text)
    if (found !== undefined) return found
  }
  const types = members.filter((member) => valuesOf(member) === undefined).flatMap(typesOf)
  if (types.length === 0) return members.every(valuesOf) ? text : parseUntyped(text)
  // Where a string is allowed, the text is not converted.
  if (types.includes('string')) return text
  const value = tryParseJson(text)
  return types.some((type) => isOfType(value, type)) ? value : text
}

function toPlainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Converts a text without a schema: to JSON if it parses, otherwise to text. */
function parseUntyped(text: string): unknown {
  const value = tryParseJson(text)
  return value === undefined ? text : value
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    case 'object':
      return isJsonObject(value)
    case 'array':
      return Array.isArray(value)
    default:
      return typeof value === type
  }
}
