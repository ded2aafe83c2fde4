/**
 * Requests an answer with a schema, in the way that the provider enforces. Pure.
 *
 * LC-O1 Anthropic gets `output_config.format` with the closed form of the schema; other providers get
 *    `response_format` with the author's schema, the form of OpenAI that most of them have adopted.
 * LC-O2 `strict` is set only for a schema that OpenAI can enforce; it rejects others.
 * LC-O3 A schema that the provider would reject is described at the end of the system text.
 */
import { isStrictSchema } from './is-strict-schema.ts'
import { toClosedSchema } from './to-closed-schema.ts'

import type { Message, ModelRequest } from '@tutti/ensemble/adapter'

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

/** Returns the messages of `request` and the fields that request its output; no fields if it requests none. */
export function askForOutput(
  { messages, tools, output }: ModelRequest,
  { provider, streams }: OutputModel,
): OutputRequest {
  if (output === undefined) return { messages, callOptions: {} }
  const schema = toJson(output.schema)
  if (provider === 'anthropic') {
    const closed = toClosedSchema(schema)
    if (closed === undefined) return describeSchema(messages, schema)
    return { messages, callOptions: { outputConfig: { format: jsonSchema({ schema: closed }) } } }
  }
  const isObject = 'type' in schema && schema.type === 'object'
  if (!isObject || (!streams && tools.length > 0)) return describeSchema(messages, schema)
  const { name } = output
  const format = { json_schema: { name, schema, strict: isStrictSchema(schema) } }
  return { messages, callOptions: { response_format: jsonSchema(format) } }
}

function jsonSchema(fields: object): object {
  return { type: 'json_schema', ...fields }
}

/** Returns the schema in the form that is sent: libraries add internal properties to their objects. */
function toJson(schema: object): object {
  const copy: unknown = JSON.parse(JSON.stringify(schema))
  return typeof copy === 'object' && copy !== null ? copy : {}
}

function describeSchema(messages: readonly Message[], schema: object): OutputRequest {
  const words = `Your final answer must be JSON alone, with no text around it, that matches this JSON Schema:\n${JSON.stringify(schema)}`
  const [first, ...others] = messages
  const described: readonly Message[] =
    first?.role === 'system'
      ? [{ role: 'system', content: `${first.content}\n\n${words}` }, ...others]
      : [{ role: 'system', content: words }, ...messages]
  return { messages: described, callOptions: {} }
}
