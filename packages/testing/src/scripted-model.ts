/**
 * A chat model that needs no provider: it answers from a script, streams its text in small pieces and
 * records what it was asked. Every part of a model call is real but the thinking.
 */
import {
  assertKnownOptions,
  sleep,
  systemClock,
  TuttiError,
  type Clock,
  type OptionNames,
  type ToolCall,
} from '@tutti/core'

import type {
  ChatModel,
  ModelChunk,
  ModelPrice,
  ModelReply,
  ModelRequest,
  ModelUsage,
} from '@tutti/ensemble'

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

/** An entry of a script: an answer, its text, an error to throw, or a function that returns one. */
export type ScriptEntry =
  | string
  | ScriptedReply
  | Error
  | ((request: ModelRequest) => string | ScriptedReply | Error)

/** Options of a scripted model. */
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

const OPTION_NAMES = {
  provider: true,
  name: true,
  price: true,
  delayMs: true,
  maxRequests: true,
  clock: true,
} as const satisfies OptionNames<ScriptedModelOptions>

/** A script costs nothing, so that tests with a limit on cost need no prices. */
const FREE: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 }

/** A scripted model and what it was asked. */
export interface ScriptedModel extends ChatModel {
  /** The requests so far, in order, as many as `maxRequests` retains. */
  readonly requests: readonly ModelRequest[]
}

/**
 * Makes a model that answers with the entries of `script`, one a call. A script that is a function
 * answers every call; a list that has run out fails the call.
 */
export function scriptedModel(
  script: readonly ScriptEntry[] | ((request: ModelRequest) => string | ScriptedReply | Error),
  options: ScriptedModelOptions = {},
): ScriptedModel {
  assertKnownOptions('Cannot make a scripted model:', options, OPTION_NAMES)
  const { provider = 'scripted', name = 'model', delayMs = 0, clock = systemClock } = options
  const { maxRequests = Infinity } = options
  // A script that stands in for the model of a provider has the price that the run knows of that, if any.
  const price = options.price ?? (options.provider === undefined ? FREE : undefined)
  const requests: ModelRequest[] = []
  let requestCount = 0
  let callCount = 0
  const nextId = (): string => {
    callCount += 1
    return `call-${callCount}`
  }
  return {
    provider,
    name,
    ...(price === undefined ? {} : { price }),
    requests,
    async *stream(request, { signal }): AsyncGenerator<ModelChunk> {
      requestCount += 1
      if (maxRequests > 0) requests.push({ ...request, messages: [...request.messages] })
      if (requests.length > maxRequests) requests.shift()
      const entry = typeof script === 'function' ? script : script[requestCount - 1]
      const scripted = readEntry(entry, request, requestCount)
      for (const text of pieces(scripted.text ?? '')) {
        if (delayMs > 0) await sleep(clock, delayMs, signal)
        signal.throwIfAborted()
        yield { type: 'text', text }
      }
      signal.throwIfAborted()
      yield { type: 'reply', reply: toReply(scripted, request, nextId) }
    },
  }
}

function readEntry(
  entry: ScriptEntry | undefined,
  request: ModelRequest,
  call: number,
): ScriptedReply {
  if (entry === undefined) {
    throw new TuttiError('MODEL_FAILED', `The script of this model has no answer to call ${call}`)
  }
  const value = typeof entry === 'function' ? entry(request) : entry
  if (value instanceof Error) throw value
  return typeof value === 'string' ? { text: value } : value
}

/** Splits a text into words, with their spaces. */
function pieces(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []
}

function toReply(scripted: ScriptedReply, request: ModelRequest, nextId: () => string): ModelReply {
  const text = scripted.text ?? ''
  const toolCalls = (scripted.toolCalls ?? []).map((call): ToolCall => ({
    id: call.id ?? nextId(),
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }))
  const written = text + toolCalls.map((call) => call.name + call.arguments).join('')
  const read = request.messages.map((message) => message.content).join('')
  const { refusal, usage = { inputTokens: tokens(read), outputTokens: tokens(written) } } = scripted
  return {
    text,
    toolCalls,
    usage,
    finishReason: scripted.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    ...(refusal === undefined ? {} : { refusal }),
  }
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4)
}
