/** Converts the input of an agent to the arguments of an MCP tool. Pure. */
import { formatExactJson, isJsonObject, parseExactJson } from '@tutti/protocol/internal'
import { AgentError } from '@tutti/agent-call/internal'

import type { McpTool } from '@tutti/mcp/internal'

/** Arguments of a tool by name. */
export type McpArguments = Readonly<Record<string, unknown>>

/** Maximum characters of a schema in a message. */
const SHOWN_LENGTH = 500

/**
 * Returns the arguments for an input. An object is used as the arguments. Another value becomes the only required
 * property, else the only property, else `input`; if there is none of these, a JSON text of an object is parsed. A
 * text property receives other values as JSON text.
 *
 * @throws {AgentError} that shows the schema when no property accepts the value.
 */
export function toMcpArguments(
  input: unknown,
  { name, inputSchema }: Pick<McpTool, 'name' | 'inputSchema'>,
): McpArguments {
  if (isJsonObject(input)) return input
  const schema: McpArguments = inputSchema
  const argument = findTextArgument(schema)
  if (argument !== undefined) {
    const value = toArgumentValue(input, propertySchema(schema, argument))
    if (value !== undefined) return { [argument]: value }
  }
  const read = typeof input === 'string' ? parseJsonObject(input) : undefined
  if (read !== undefined) return read
  const isNothing = input === undefined || input === null
  if (isNothing && requiredNames(schema).length === 0) return {}
  const shown = JSON.stringify(schema).slice(0, SHOWN_LENGTH)
  const given = (JSON.stringify(input) ?? 'nothing').slice(0, 100)
  throw new AgentError(
    `Cannot call MCP tool "${name}" with ${given}: its arguments must be an object that matches ${shown}`,
    { failureType: 'configuration', retryable: false },
  )
}

/** Returns the only property that can receive a value other than an object. */
export function findTextArgument(schema: McpArguments): string | undefined {
  const names = Object.keys(schemaProperties(schema))
  const required = requiredNames(schema)
  if (required.length === 1) return required[0]
  if (required.length > 1) return undefined
  if (names.length === 1) return names[0]
  const takesAny = names.length === 0 && schema['additionalProperties'] !== false
  return takesAny || names.includes('input') ? 'input' : undefined
}

/** Returns the schema of a property; empty if it has none. */
export function propertySchema(schema: McpArguments, property: string): McpArguments {
  const found = schemaProperties(schema)[property]
  return isJsonObject(found) ? found : {}
}

/** Returns the properties of an object schema. */
export function schemaProperties(schema: McpArguments): McpArguments {
  const { properties } = schema
  return isJsonObject(properties) ? properties : {}
}

/** Parses a text as a JSON object; returns undefined for other texts. */
export function parseJsonObject(text: string): McpArguments | undefined {
  try {
    const value = parseExactJson(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function requiredNames({ required }: McpArguments): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function toArgumentValue(input: unknown, { type }: McpArguments): unknown {
  if (input === undefined || input === null) return undefined
  const types = [type].flat()
  if (type === undefined || types.includes(typeOf(input))) return input
  if (typeof input === 'number' && types.includes('integer')) return input
  if (types.includes('string')) return formatExactJson(input)
  return undefined
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value
}
