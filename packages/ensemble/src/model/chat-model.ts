/**
 * The model port. The engine knows models only through this file; no vendor type crosses it.
 * Adapters: `@tutti/langchain` for real providers, `scriptedModel` of `@tutti/testing`.
 */
import type { ToolCall } from '@tutti/core'
import type { FinishReason } from '@tutti/protocol'

/** Prices of one model in US dollars for a million tokens, as providers list them. */
export interface ModelPrice {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
  /** Of input read from the provider's cache. @default inputPerMillion */
  readonly cachedInputPerMillion?: number
}

/** A chat model that can call tools and streams what it writes. */
export interface ChatModel {
  /** Who serves it, such as `anthropic`. */
  readonly provider: string
  /** The provider's name of the model. */
  readonly name: string
  /** Whether the provider enforces {@link ModelRequest.output}. @default false */
  readonly structuredOutput?: boolean
  /** Price of the model, used where the prices of the run have none. */
  readonly price?: ModelPrice
  /**
   * Makes one call. Yields any number of `text` chunks as they are written, then exactly one
   * `reply`, the last chunk, which holds the whole answer. Throws when the call fails, with
   * `retryable` set on a `TuttiError` if trying again may help. Stops soon after `signal` aborts.
   */
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelChunk>
}

/** The request of one call. */
export interface ModelRequest {
  readonly messages: readonly Message[]
  /** Tools the model may call; given on every call of a conversation that has used tools. */
  readonly tools: readonly ToolSpecification[]
  /** `none` asks for an answer in text although there are tools. */
  readonly toolChoice: 'auto' | 'none'
  /** The form of the answer; sent only to a model that enforces it. */
  readonly output?: OutputFormat
  /**
   * Longest answer in tokens, more than the model's own limit: the last answer was cut there. A model that
   * cannot change its limit ignores it.
   */
  readonly maxOutputTokens?: number
}

/** The required form of an answer: JSON of a schema. */
export interface OutputFormat {
  /** A short name in `a-z`, `0-9` and `_`, as providers ask for. */
  readonly name: string
  /** JSON Schema of the answer: the task author's own object. */
  readonly schema: object
}

/** Surroundings of one call. */
export interface ModelCallOptions {
  readonly signal: AbortSignal
}

/** A tool as the model sees it. */
export interface ToolSpecification {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments: the tool author's own object. */
  readonly inputSchema: object
}

/** One message of a conversation. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/** Who the model is and how it should work. */
export interface SystemMessage {
  readonly role: 'system'
  readonly content: string
}

/** The text of the user. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: string
}

/** The answer of the model, with the tool calls that it requests. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: string
  readonly toolCalls: readonly ToolCall[]
  /** The reply's own {@link ModelReply.providerContent}, given back. */
  readonly providerContent?: ProviderContent
}

/** The part of a reply that its provider expects back in the next call, such as signed thinking. */
export interface ProviderContent {
  /** {@link ChatModel.provider} that made it; others ignore it. */
  readonly provider: string
  /** Anything that survives JSON. */
  readonly content: unknown
}

/** The result of one tool call, for the model. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly toolCallId: string
  readonly toolName: string
  readonly content: string
}

/** A piece of a streamed answer. */
export type ModelChunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reply'; readonly reply: ModelReply }

/** A whole answer. */
export interface ModelReply {
  /** All text of the answer; empty when there are only tool calls. */
  readonly text: string
  /** After the finish reason `length` the last call may be cut: its arguments are then not valid JSON. */
  readonly toolCalls: readonly ToolCall[]
  /**
   * Finish reason of the answer. An answer with `refusal` or `content_filter` does not count as one; one with
   * `length` is continued or requested again. @default 'unknown', which counts as finished
   */
  readonly finishReason?: FinishReason
  /** The finish reason in the provider's own words, such as `MAX_TOKENS`. */
  readonly providerFinishReason?: string
  /** Text of the provider about a refusal or a blocked answer; no part of `text`. */
  readonly refusal?: string
  /** Tokens used, when the provider says. */
  readonly usage?: ModelUsage
  /** Content that the provider expects back in the next call, in addition to text and tool calls. */
  readonly providerContent?: ProviderContent
}

/** Tokens of one call. */
export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Those of `inputTokens` that were read from the provider's cache, when it says. */
  readonly cachedInputTokens?: number
}
