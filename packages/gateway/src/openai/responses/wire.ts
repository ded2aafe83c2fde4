/**
 * Requests, responses and stream events of OpenAI's Responses API.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
import { Type, type Static } from '@tutti/core'
import { MAX_COUNT } from '@tutti/core/internal'

import { nullable, ResponseMetadata } from '../request-fields.ts'

const CLOSED = { additionalProperties: false } as const

const Json = Type.Record(Type.String(), Type.Unknown())

/** Part of a message, or of the output of a call. */
export const ContentPart = Type.Object({
  type: Type.String(),
  text: Type.Optional(Type.String()),
  refusal: Type.Optional(Type.String()),
})
export type ContentPart = Static<typeof ContentPart>

/** Text, or a list of parts. */
export const Content = Type.Union([Type.String(), Type.Array(ContentPart)])
export type Content = Static<typeof Content>

/** Item of an input. Which fields it has depends on its type; other fields of its type are ignored. */
export const InputItem = Type.Object({
  type: Type.Optional(Type.String()),
  id: nullable(Type.String()),
  role: Type.Optional(Type.Enum(['user', 'assistant', 'system', 'developer'])),
  content: Type.Optional(Content),
  call_id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  arguments: Type.Optional(Type.String()),
  output: Type.Optional(Content),
  approval_request_id: Type.Optional(Type.String()),
  approve: Type.Optional(Type.Boolean()),
  reason: nullable(Type.String()),
})
export type InputItem = Static<typeof InputItem>

/** Tool that a request offers; only functions are supported. */
export const ResponseTool = Type.Object({
  type: Type.String(),
  name: Type.Optional(Type.String()),
  description: nullable(Type.String()),
  parameters: nullable(Json),
  strict: nullable(Type.Boolean()),
})
export type ResponseTool = Static<typeof ResponseTool>

/** Format of the text of a response. */
export const TextFormatParam = Type.Object({
  type: Type.String(),
  name: Type.Optional(Type.String()),
  description: nullable(Type.String()),
  schema: Type.Optional(Json),
  strict: nullable(Type.Boolean()),
})
export type TextFormatParam = Static<typeof TextFormatParam>

/** Maximum length of an id or a name in a request, in characters. */
const MAX_NAME = 256

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME })

/** Body of `POST /v1/responses`. Parameters of type unknown are checked in `parameters.ts`. */
export const CreateResponseBody = Type.Object(
  {
    model: Name,
    input: Type.Optional(Type.Union([Type.String(), Type.Array(InputItem)])),
    instructions: nullable(Type.String()),
    previous_response_id: nullable(Name),
    stream: nullable(Type.Boolean()),
    background: nullable(Type.Boolean()),
    store: nullable(Type.Boolean()),
    metadata: ResponseMetadata,
    max_output_tokens: nullable(Type.Integer({ minimum: 1, maximum: MAX_COUNT })),
    tools: nullable(Type.Array(ResponseTool)),
    tool_choice: Type.Optional(Type.Unknown()),
    parallel_tool_calls: nullable(Type.Boolean()),
    text: nullable(
      Type.Object(
        { format: Type.Optional(TextFormatParam), verbosity: Type.Optional(Type.Unknown()) },
        CLOSED,
      ),
    ),
    access_programs: Type.Optional(Type.Unknown()),
    context_management: Type.Optional(Type.Unknown()),
    conversation: nullable(Type.Union([Name, Type.Object({ id: Name })])),
    image: Type.Optional(Type.Unknown()),
    include: Type.Optional(Type.Unknown()),
    max_tool_calls: Type.Optional(Type.Unknown()),
    moderation: Type.Optional(Type.Unknown()),
    prompt: Type.Optional(Type.Unknown()),
    prompt_cache_key: nullable(Type.String()),
    prompt_cache_options: Type.Optional(Type.Unknown()),
    prompt_cache_retention: Type.Optional(Type.Unknown()),
    reasoning: Type.Optional(Type.Unknown()),
    safety_identifier: nullable(Type.String()),
    service_tier: Type.Optional(Type.Unknown()),
    stream_options: Type.Optional(Type.Unknown()),
    temperature: Type.Optional(Type.Unknown()),
    top_logprobs: Type.Optional(Type.Unknown()),
    top_p: Type.Optional(Type.Unknown()),
    truncation: Type.Optional(Type.Unknown()),
    user: nullable(Type.String()),
  },
  CLOSED,
)
export type CreateResponseBody = Static<typeof CreateResponseBody>

/** Text or refusal in a message of a response. */
export type OutputPart =
  | {
      readonly type: 'output_text'
      readonly text: string
      readonly annotations: readonly []
      readonly logprobs: readonly []
    }
  | { readonly type: 'refusal'; readonly refusal: string }

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Message of a response. */
export interface MessageItem {
  readonly type: 'message'
  readonly id: string
  readonly role: 'assistant'
  readonly status: ItemStatus
  readonly content: readonly OutputPart[]
  readonly phase?: 'commentary' | 'final_answer'
}

/** Reasoning of a model, as a summary. */
export interface ReasoningItem {
  readonly type: 'reasoning'
  readonly id: string
  readonly status: ItemStatus
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
}

/** Call that the client executes. */
export interface FunctionCallItem {
  readonly type: 'function_call'
  readonly id: string
  readonly call_id: string
  readonly name: string
  readonly arguments: string
  readonly status: ItemStatus
}

/** Review that the client decides. */
export interface ApprovalItem {
  readonly type: 'mcp_approval_request'
  readonly id: string
  readonly server_label: string
  readonly name: string
  readonly arguments: string
}

/** Item of a response. */
export type OutputItem = MessageItem | ReasoningItem | FunctionCallItem | ApprovalItem

export type ResponseStatus =
  | 'queued'
  | 'in_progress'
  | 'completed'
  | 'incomplete'
  | 'failed'
  | 'cancelled'

/** Tokens of a response. */
export interface ResponseUsage {
  readonly input_tokens: number
  readonly input_tokens_details: {
    readonly cached_tokens: number
    readonly cache_write_tokens: number
  }
  readonly output_tokens: number
  readonly output_tokens_details: { readonly reasoning_tokens: number }
  readonly total_tokens: number
}

/** Parts of a response that follow from the log of its run. */
export interface ResponseState {
  readonly id: string
  readonly created_at: number
  readonly completed_at: number | null
  readonly status: ResponseStatus
  readonly error: {
    readonly code: 'invalid_prompt' | 'rate_limit_exceeded' | 'server_error'
    readonly message: string
    readonly type: 'server_error'
    readonly param: null
  } | null
  readonly incomplete_details: { readonly reason: 'max_output_tokens' | 'content_filter' } | null
  readonly output: readonly OutputItem[]
  readonly usage: ResponseUsage | null
  readonly previous_response_id: string | null
}

/**
 * Parts of a response that repeat its request, or have the value that OpenAI's API has without it.
 *
 * @see https://www.openresponses.org/reference
 */
export interface ResponseRequest {
  readonly background: boolean
  readonly conversation: { readonly id: string } | null
  readonly frequency_penalty: 0
  readonly instructions: string | null
  readonly max_output_tokens: number | null
  readonly max_tool_calls: null
  readonly metadata: Readonly<Record<string, string>>
  readonly model: string
  readonly parallel_tool_calls: true
  readonly presence_penalty: 0
  readonly prompt_cache_key: string | null
  readonly reasoning: null
  readonly safety_identifier: string | null
  readonly service_tier: 'default'
  readonly store: boolean
  readonly temperature: 1
  readonly text: { readonly format: TextFormatParam }
  readonly tool_choice: 'auto' | 'none'
  readonly tools: readonly ResponseTool[]
  readonly top_logprobs: 0
  readonly top_p: 1
  readonly truncation: 'disabled'
  readonly user: string | null
}

export interface WireResponse extends ResponseState, ResponseRequest {
  readonly object: 'response'
}

/** Event of a stream, before its sequence number and with the state of its response. */
export type SegmentEvent =
  | {
      readonly type:
        | 'response.created'
        | 'response.queued'
        | 'response.in_progress'
        | 'response.completed'
        | 'response.incomplete'
        | 'response.failed'
      readonly response: ResponseState
    }
  | {
      readonly type: 'response.output_item.added' | 'response.output_item.done'
      readonly output_index: number
      readonly item: OutputItem
    }
  | (PartPlace & {
      readonly type: 'response.content_part.added' | 'response.content_part.done'
      readonly part: OutputPart
    })
  | (PartPlace & {
      readonly type: 'response.output_text.delta'
      readonly delta: string
      readonly logprobs: readonly []
    })
  | (PartPlace & {
      readonly type: 'response.output_text.done'
      readonly text: string
      readonly logprobs: readonly []
    })
  | (PartPlace & { readonly type: 'response.refusal.delta'; readonly delta: string })
  | (PartPlace & { readonly type: 'response.refusal.done'; readonly refusal: string })
  | (SummaryPlace & {
      readonly type:
        | 'response.reasoning_summary_part.added'
        | 'response.reasoning_summary_part.done'
      readonly part: ReasoningItem['summary'][number]
    })
  | (SummaryPlace & {
      readonly type: 'response.reasoning_summary_text.delta'
      readonly delta: string
    })
  | (SummaryPlace & {
      readonly type: 'response.reasoning_summary_text.done'
      readonly text: string
    })
  | (ItemPlace & {
      readonly type: 'response.function_call_arguments.delta'
      readonly delta: string
    })
  | (ItemPlace & {
      readonly type: 'response.function_call_arguments.done'
      readonly name: string
      readonly arguments: string
    })

interface ItemPlace {
  readonly item_id: string
  readonly output_index: number
}

interface SummaryPlace extends ItemPlace {
  readonly summary_index: number
}

interface PartPlace extends ItemPlace {
  readonly content_index: number
}
