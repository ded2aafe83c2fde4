/**
 * Pure: asks a model for an answer of a form, in the way that its provider enforces.
 *
 * O1 Anthropic is sent `output_config.format` with the closed form of the schema; all others are sent
 *    `response_format` with the author's own schema, as OpenAI has it and most others have copied it.
 * O2 `strict` is set only for a schema that OpenAI can enforce: it refuses the request otherwise.
 * O3 A schema that the provider would refuse is described at the end of the system text.
 */
import { isStrictSchema } from './is-strict-schema.ts'
import { toClosedSchema } from './to-closed-schema.ts'

import type { Message, ModelRequest } from '@tutti/ensemble'

/** The properties of a model that decide the form of the request. */
export interface OutputModel {
  readonly provider: string
  /** Whether it streams; only then OpenAI's client accepts tools together with a schema. */
  readonly streams: boolean
}

/** The request to send. */
export interface OutputRequest {
  readonly messages: readonly Message[]
  /** Fields for the call of the LangChain model. */
  readonly callOptions: Readonly<Record<string, unknown>>
}

/** The messages of `request` and what asks for its output; nothing when it asks for none. */
export function askForOutput(
  { messages, tools, output }: ModelRequest,
  { provider, streams }: OutputModel,
): OutputRequest {
  if (output === undefined) return { messages, callOptions: {} }
  const schema = toJson(output.schema)
  if (provider === 'anthropic') {
    const closed = toClosedSchema(schema)
    if (closed === undefined) return inWords(messages, schema)
    return { messages, callOptions: { outputConfig: { format: jsonSchema({ schema: closed }) } } }
  }
  const isObject = 'type' in schema && schema.type === 'object'
  if (!isObject || (!streams && tools.length > 0)) return inWords(messages, schema)
  const { name } = output
  const format = { json_schema: { name, schema, strict: isStrictSchema(schema) } }
  return { messages, callOptions: { response_format: jsonSchema(format) } }
}

function jsonSchema(fields: object): object {
  return { type: 'json_schema', ...fields }
}

/** The schema as it goes over the wire: libraries keep marks of their own on their objects. */
function toJson(schema: object): object {
  const copy: unknown = JSON.parse(JSON.stringify(schema))
  return typeof copy === 'object' && copy !== null ? copy : {}
}

function inWords(messages: readonly Message[], schema: object): OutputRequest {
  const words = `Your final answer must be JSON alone, with no text around it, that fits this JSON Schema:\n${JSON.stringify(schema)}`
  const [first, ...others] = messages
  const described: readonly Message[] =
    first?.role === 'system'
      ? [{ role: 'system', content: `${first.content}\n\n${words}` }, ...others]
      : [{ role: 'system', content: words }, ...messages]
  return { messages: described, callOptions: {} }
}
