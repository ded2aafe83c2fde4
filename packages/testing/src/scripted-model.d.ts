/**
 * A chat model that needs no provider: it answers from a script, streams its text in small pieces and
 * records what it was asked. Every part of a model call is real but the thinking.
 */
import { type Clock } from '@tutti/core'
import type { ChatModel, ModelPrice, ModelReply, ModelRequest, ModelUsage } from '@tutti/ensemble'
/** One answer of a script: text, tool calls, or both. */
export interface ScriptedReply {
  /** @default '' */
  readonly text?: string
  readonly toolCalls?: readonly ScriptedToolCall[]
  /** @default counted from the lengths of the texts, four characters a token */
  readonly usage?: ModelUsage
  /** Finish reason of the answer. @default 'tool_calls' when there are any, else 'stop' */
  readonly finishReason?: NonNullable<ModelReply['finishReason']>
  /** Text of the provider about a refusal or a blocked answer. */
  readonly refusal?: string
}
/** A tool call of a script. */
export interface ScriptedToolCall {
  readonly name: string
  /** Arguments as a value; text is sent as it is, also when it is not JSON. */
  readonly arguments: object | string
  /** @default `call-N`, N counting the calls of this model from 1 */
  readonly id?: string
}
/** What a script may hold: an answer, its text, an error to throw, or a function that gives one. */
export type ScriptEntry =
  | string
  | ScriptedReply
  | Error
  | ((request: ModelRequest) => string | ScriptedReply | Error)
/** How a scripted model behaves. */
export interface ScriptedModelOptions {
  /** @default 'scripted' */
  readonly provider?: string
  /** @default 'model' */
  readonly name?: string
  /** Price of the model, used where the prices of a run have none. @default 0 without a `provider`, else unknown */
  readonly price?: ModelPrice
  /** Wait before each piece of text, in milliseconds. @default 0, no wait */
  readonly delayMs?: number
  /** Requests that `requests` holds, the newest; 0 for a model of a server that never restarts. @default Infinity */
  readonly maxRequests?: number
  readonly clock?: Clock
}
/** A scripted model and what it was asked. */
export interface ScriptedModel extends ChatModel {
  /** The requests so far, in order, as many as `maxRequests` retains. */
  readonly requests: readonly ModelRequest[]
}
/**
 * Makes a model that answers with the entries of `script`, one a call. A script that is a function
 * answers every call; a list that has run out fails the call.
 */
export declare function scriptedModel(
  script: readonly ScriptEntry[] | ((request: ModelRequest) => string | ScriptedReply | Error),
  options?: ScriptedModelOptions,
): ScriptedModel
