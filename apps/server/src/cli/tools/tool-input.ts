/** Pure: from `key=value` words to the input of a tool, each value of the type that its schema asks for. */
import { isJsonObject, suggest } from '@tutti/protocol'

import { CommandError } from '../command-error.ts'
import {
  membersOf,
  listSchemaProperties,
  resolveSchema,
  typesOf,
  valuesOf,
  type Fields,
  type SchemaPart,
} from './schema-parts.ts'
import { schemaText } from './schema-text.ts'

/**
 * The object that the words make. A key that stands several times, or whose schema is a list, makes a list.
 *
 * @throws {CommandError} USAGE for a word that is no pair, and for a key that the tool does not know.
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
  throw new CommandError('USAGE', `"${pair}" is no key=value`, [
    'A whole input: --input JSON, --input @file or --input - for standard input',
  ])
}

function unknownKey(key: string, known: readonly string[], schema: Fields): CommandError {
  const near = suggest(key, known)
  const question = near === undefined ? '' : `; did you mean "${near}"?`
  return new CommandError('USAGE', `The tool has no input "${key}"${question}`, [
    `It takes ${schemaText(schema)}`,
  ])
}

function fieldValue(part: SchemaPart | undefined, texts: readonly string[]): unknown {
  const [first = ''] = texts
  const list = part === undefined ? undefined : membersOf(part).find(isList)
  if (list === undefined) {
    const values = texts.map((text) => valueOf(part, text))
    return values.length === 1 ? values[0] : values
  }
  const whole = texts.length === 1 ? parsed(first) : undefined
  if (Array.isArray(whole)) return whole
  const { items } = list.schema
  const itemPart = isJsonObject(items) ? { schema: items, root: list.root } : undefined
  return texts.map((text) => valueOf(itemPart, text))
}

function isList(part: SchemaPart): boolean {
  return typesOf(part).includes('array')
}

/** The value of one text; the text itself where it fits no type, so that the server says what is wrong with it. */
function valueOf(part: SchemaPart | undefined, text: string): unknown {
  if (part === undefined) return openValue(text)
  const members = membersOf(resolveSchema(part))
  for (const listed of members.map(valuesOf)) {
    const found = listed?.find((value) => plainText(value) === text)
    if (found !== undefined) return found
  }
  const types = members.filter((member) => valuesOf(member) === undefined).flatMap(typesOf)
  if (types.length === 0) return members.every(valuesOf) ? text : openValue(text)
  // Text is what was typed; where it is welcome nothing is guessed.
  if (types.includes('string')) return text
  const value = parsed(text)
  return types.some((type) => isOfType(value, type)) ? value : text
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What the schema says nothing about: JSON when it is, else text. */
function openValue(text: string): unknown {
  const value = parsed(text)
  return value === undefined ? text : value
}

function parsed(text: string): unknown {
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
