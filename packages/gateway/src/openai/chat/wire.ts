/**
 * Requests and answers of OpenAI's chat completions.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
import { Type, type Static } from '@tutti/core'
import { MAX_COUNT } from '@tutti/core/internal'

import { nullable } from '../request-fields.ts'

/** Maximum number of messages, of parts of one, and of tools. */
const MAX_MESSAGES = 2_000
const MAX_PARTS = 1_000
const MAX_TOOLS = 128

const Text = Type.String()

/** Content of a message: a text, or its parts. Types of parts are checked in `request.ts`. */
const Content = Type.Union([
  Text,
  Type.Array(
    Type.Object({
      type: Type.String(),
      text: nullable(Text),
      refusal: nullable(Text),
    }),
    {
      maxItems: MAX_PARTS,
    },
  ),
])

const ToolCall = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String({ minLength: 1 }), arguments: Text }),
})

/** Message of a conversation. */
export const CompletionMessage = Type.Object({
  role: Type.Enum(['developer', 'system', 'user', 'assistant', 'tool']),
  content: nullable(Content),
  refusal: nullable(Text),
  tool_calls: nullable(Type.Array(ToolCall, { maxItems: MAX_TOOLS })),
  tool_call_id: Type.Optional(Type.String({ minLength: 1 })),
})
export type CompletionMessage = Static<typeof CompletionMessage>

const FunctionTool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Text,
    description: nullable(Text),
    parameters: nullable(Type.Object({})),
  }),
})

const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Enum(['text', 'json_object']) }),
  Type.Object({
    type: Type.Literal('json_schema'),
    json_schema: Type.Object({ schema: Type.Object({}) }),
  }),
])

/** Fields of a request that have an effect. */
export const CompletionBody = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(CompletionMessage, { minItems: 1, maxItems: MAX_MESSAGES }),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(Type.Object({ include_usage: nullable(Type.Boolean()) })),
  tools: nullable(Type.Array(FunctionTool, { maxItems: MAX_TOOLS })),
  tool_choice: nullable(Type.Enum(['auto', 'none'])),
  response_format: nullable(ResponseFormat),
  max_completion_tokens: nullable(Type.Integer({ minimum: 1, maximum: MAX_COUNT })),
  max_tokens: nullable(Type.Integer({ minimum: 1, maximum: MAX_COUNT })),
  metadata: nullable(Type.Record(Text, Text)),
})
export type CompletionBody = Static<typeof CompletionBody>

/** Fields of {@link CompletionBody}. */
export const EFFECTIVE_FIELDS: readonly string[] = Object.keys(CompletionBody.properties)

/**
 * Fields that are accepted without an effect: identifiers of end users, hints for caches, the storage of completions, and
 * preferences that clients send by default for some names of models, although the catalog has the settings of a model.
 */
export const NEUTRAL_FIELDS: readonly string[] = [
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'store',
  'reasoning_effort',
  'verbosity',
]

/** Other fields → the only values with which they are accepted, in addition to empty ones: those that have no effect. */
export const NEUTRAL_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  temperature: [1],
  top_p: [1],
  presence_penalty: [0],
  frequency_penalty: [0],
  logprobs: [false],
  top_logprobs: [0],
  logit_bias: [{}],
  parallel_tool_calls: [true],
  service_tier: ['auto', 'default'],
  modalities: [['text']],
}

/** Reason of the end of a completion. */
export type CompletionFinish = 'stop' | 'length' | 'content_filter' | 'tool_calls'

/** Call of a tool of the client. */
export interface CompletionCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface CompletionUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number }
  /** Absent when models did not reason, or do not report it. */
  readonly completion_tokens_details?: { readonly reasoning_tokens: number }
}

/** A change of a streamed message. */
export interface CompletionDelta {
  readonly role?: 'assistant'
  readonly content?: string
  /** Readable reasoning of the model: not a field of OpenAI, but of DeepSeek, vLLM and the clients of both. */
  readonly reasoning_content?: string
  readonly refusal?: string
  readonly tool_calls?: readonly (CompletionCall & { readonly index: number })[]
}
