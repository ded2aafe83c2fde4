/** From what an agent is sent to the arguments of an MCP tool. Pure. */
import { isJsonObject } from '@tutti/protocol'
import { AgentError } from '@tutti/agent-call'

import type { McpTool } from '@tutti/mcp'

/** Arguments of a tool by name. */
export type McpArguments = Readonly<Record<string, unknown>>

/** What a message shows of a schema, in characters. */
const SHOWN_LENGTH = 500

/**
 * An object is the arguments. Anything else goes where there is one place for it: to the property that alone
 * is required, else to the only property, else to `input`; a text that is the JSON of an object is that object
 * where there is none. A property for a text takes other JSON as its text.
 *
 * @throws {AgentError} that shows the schema when there is no place for it.
 */
export function toMcpArguments(
  input: unknown,
  { name, inputSchema }: Pick<McpTool, 'name' | 'inputSchema'>,
): McpArguments {
  if (isJsonObject(input)) return input
  const schema: McpArguments = inputSchema
  const place = findArgumentPlace(schema)
  if (place !== undefined) {
    const value = valueFor(input, propertySchema(schema, place))
    if (value !== undefined) return { [place]: value }
  }
  const read = typeof input === 'string' ? parseJsonObject(input) : undefined
  if (read !== undefined) return read
  const isNothing = input === undefined || input === null
  if (isNothing && requiredOf(schema).length === 0) return {}
  const shown = JSON.stringify(schema).slice(0, SHOWN_LENGTH)
  const given = (JSON.stringify(input) ?? 'nothing').slice(0, 100)
  throw new AgentError(
    `Cannot call MCP tool "${name}" with ${given}: its arguments must be an object that fits ${shown}`,
    { failureType: 'configuration', retryable: false },
  )
}

/** The one property that a value which is no object can be meant for. */
export function findArgumentPlace(schema: McpArguments): string | undefined {
  const names = Object.keys(schemaProperties(schema))
  const required = requiredOf(schema)
  if (required.length === 1) return required[0]
  if (required.length > 1) return undefined
  if (names.length === 1) return names[0]
  const takesAny = names.length === 0 && schema['additionalProperties'] !== false
  return takesAny || names.includes('input') ? 'input' : undefined
}

/** The schema of a property; empty when there is none. */
export function propertySchema(schema: McpArguments, property: string): McpArguments {
  const found = schemaProperties(schema)[property]
  return isJsonObject(found) ? found : {}
}

/** The properties of a schema of an object. */
export function schemaProperties(schema: McpArguments): McpArguments {
  const { properties } = schema
  return isJsonObject(properties) ? properties : {}
}

/** A text that is the JSON of an object, as that. */
export function parseJsonObject(text: string): McpArguments | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function requiredOf({ required }: McpArguments): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function valueFor(input: unknown, { type }: McpArguments): unknown {
  if (input === undefined || input === null) return undefined
  const types = [type].flat()
  if (type === undefined || types.includes(typeOf(input))) return input
  if (typeof input === 'number' && types.includes('integer')) return input
  if (types.includes('string')) return JSON.stringify(input)
  return undefined
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value
}
