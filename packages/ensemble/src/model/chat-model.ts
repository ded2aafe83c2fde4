/**
 * The model port. The engine accesses models only through this file, which has no vendor types. Adapters:
 * `@tutti/langchain` for real providers, `scriptedModel` of `@tutti/testing` for tests.
 */
import type { ToolCall } from '@tutti/core'
import type { FinishReason } from '@tutti/protocol/internal'

/** Prices of one model in US dollars per million tokens, as providers list them: numbers from 0 to 1,000,000. */
export interface ModelPrice {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
  /** Price of input that was read from the provider's cache. @default inputPerMillion */
  readonly cachedInputPerMillion?: number
  /** Price of input that was written to the provider's cache. @default inputPerMillion */
  readonly cacheWriteInputPerMillion?: number
}

/** A chat model that can call tools and that streams its answers. */
export interface ChatModel {
  /** Provider of the model, such as `anthropic`. */
  readonly provider: string
  /** Name of the model at its provider. */
  readonly name: string
  /** Whether the provider enforces {@link ModelRequest.output}. @default false */
  readonly structuredOutput?: boolean
  /** Price of the model, unless the run's prices have one. */
  readonly price?: ModelPrice
  /**
   * Makes one call. Yields any number of `reasoning` and `text` chunks while the model writes, then exactly one
   * `reply` with the whole answer as the last chunk. Throws if the call fails, with `retryable` set on a `TuttiError` if
   * another call may succeed. Stops soon after `signal` aborts.
   */
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelChunk>
}

/** Request of one model call. */
export interface ModelRequest {
  readonly messages: readonly Message[]
  /** Tools that the model may call; passed with every call of a conversation that has used tools. */
  readonly tools: readonly ToolSpecification[]
  /** Whether the model may call tools; `none` requests an answer in text. */
  readonly toolChoice: 'auto' | 'none'
  /** Required form of the answer; set only for a model that enforces it. */
  readonly output?: OutputFormat
  /**
   * Maximum number of output tokens: that of the task, or one higher than the limit that cut the last answer. A
   * model that cannot change its limit ignores it.
   */
  readonly maxOutputTokens?: number
}

/** Required form of an answer: JSON that matches a schema. */
export interface OutputFormat {
  /** Short name in `a-z`, `0-9` and `_`, as providers require it. */
  readonly name: string
  /** JSON Schema of the answer, as the author of the task defined it. */
  readonly schema: object
}

export interface ModelCallOptions {
  readonly signal: AbortSignal
}

/** A tool as the model sees it. */
export interface ToolSpecification {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, as the author of the tool defined it. */
  readonly inputSchema: object
}

/** A message of a conversation. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/** Role of the model and instructions on how to work. */
export interface SystemMessage {
  readonly role: 'system'
  readonly content: string
}

/** Text of the user. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: string
}

/** Answer of the model, with the tool calls that it requests. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: string
  readonly toolCalls: readonly ToolCall[]
  /** {@link ModelReply.providerContent} of the reply, sent back unchanged. */
  readonly providerContent?: ProviderContent
}

/** Content of a reply that its provider expects back in the next call, such as signed thinking. */
export interface ProviderContent {
  /** {@link ChatModel.provider} of the model that returned it; other providers ignore it. */
  readonly provider: string
  /** Content that survives JSON unchanged. */
  readonly content: unknown
}

/** Result of one tool call, for the model. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly toolCallId: string
  readonly toolName: string
  readonly content: string
}

/** A chunk of a streamed answer. */
export type ModelChunk =
  /** Readable reasoning of the model, or a summary of it; not part of the answer, and not in the reply. */
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reply'; readonly reply: ModelReply }

/** A whole answer. */
export interface ModelReply {
  /** Text of the answer; empty if there are only tool calls. */
  readonly text: string
  /**
   * Tool calls of the answer. With the finish reason `length` the last one may be cut; its arguments are then
   * not valid JSON.
   */
  readonly toolCalls: readonly ToolCall[]
  /**
   * Finish reason of the answer. With `refusal` or `content_filter` the reply is not used as an answer; with
   * `length` it is continued or requested again. @default 'unknown', which counts as finished
   */
  readonly finishReason?: FinishReason
  /** Finish reason as the provider returned it, such as `MAX_TOKENS`. */
  readonly providerFinishReason?: string
  /** Provider's explanation of a refusal or a blocked answer; not part of `text`. */
  readonly refusal?: string
  /** Tokens of the call, if the provider reports them. The engine reads them with `readUsage`. */
  readonly usage?: ModelUsage
  /** Content that the provider expects back in the next call, in addition to text and tool calls. */
  readonly providerContent?: ProviderContent
}

/** Tokens of one call. */
export interface ModelUsage {
  /** Number of input tokens, including cached ones; -1 if the provider did not report it. */
  readonly inputTokens: number
  /** Number of output tokens, including those of reasoning; -1 if the provider did not report it. */
  readonly outputTokens: number
  /** Number of `inputTokens` that were read from the provider's cache, if the provider reports it. */
  readonly cachedInputTokens?: number
  /** Number of `inputTokens` that were written to the provider's cache, if the provider reports it. */
  readonly cacheWriteInputTokens?: number
  /** Number of `outputTokens` that the model used to reason, if the provider reports it. */
  readonly reasoningTokens?: number
  /** Input and output tokens together, if the provider reports the sum: it stands for a count that is not reported. */
  readonly totalTokens?: number
}
