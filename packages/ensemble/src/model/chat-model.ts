/**
 * The model port. The engine knows models only through this file; no vendor type crosses it.
 * Adapters: `@tutti/langchain` for real providers, `scriptedModel` of `@tutti/testing`.
 */
import type { ToolCall } from '@tutti/core'

/** A chat model that can call tools and streams what it writes. */
export interface ChatModel {
  /** Who serves it, such as `anthropic`. */
  readonly provider: string
  /** The provider's name of the model. */
  readonly name: string
  /**
   * Makes one call. Yields any number of `text` chunks as they are written, then exactly one
   * `reply`, the last chunk, which holds the whole answer. Throws when the call fails, with
   * `retryable` set on a `TuttiError` if trying again may help. Stops soon after `signal` aborts.
   */
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelChunk>
}

/** What one call sends. */
export interface ModelRequest {
  readonly messages: readonly Message[]
  /** Tools the model may call; given on every call of a conversation that has used tools. */
  readonly tools: readonly ToolSpecification[]
  /** `none` asks for an answer in text although there are tools. */
  readonly toolChoice: 'auto' | 'none'
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

/** What the model is asked. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: string
}

/** What the model said, with the tools it wants called. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: string
  readonly toolCalls: readonly ToolCall[]
}

/** The result of one tool call, told to the model. */
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
  readonly toolCalls: readonly ToolCall[]
  /** Tokens used, when the provider says. */
  readonly usage?: ModelUsage
}

/** Tokens of one call. */
export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}
