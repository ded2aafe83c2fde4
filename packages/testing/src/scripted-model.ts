/**
 * A chat model that needs no provider. It answers from a script, streams its text in small pieces and records
 * its requests.
 */
import { systemClock, TuttiError, type Clock, type ToolCall } from '@tutti/core'
import { assertKnownOptions, sleep, type OptionNames } from '@tutti/core/internal'

import type {
  ChatModel,
  ModelChunk,
  ModelReply,
  ModelRequest,
  ModelUsage,
} from '@tutti/ensemble/adapter'
import type { ModelPrice } from '@tutti/ensemble/internal'

/** One answer of a script: text, tool calls, or both. */
export interface ScriptedReply {
  /** Text of the answer. @default '' */
  readonly text?: string
  /** Readable reasoning of the model, streamed before the text. @default '' */
  readonly reasoning?: string
  readonly toolCalls?: readonly ScriptedToolCall[]
  /** Token usage. @default estimated from the lengths of the texts, with four characters per token */
  readonly usage?: ModelUsage
  /** Finish reason of the answer. @default 'tool_calls' if there are any, else 'stop' */
  readonly finishReason?: NonNullable<ModelReply['finishReason']>
  /** Provider's explanation of a refusal or a blocked answer. */
  readonly refusal?: string
}

export interface ScriptedToolCall {
  readonly name: string
  /** Arguments as a value; text is sent unchanged, also if it is not JSON. */
  readonly arguments: object | string
  /** Id of the call. @default `call-N`, where N counts the calls of this model from 1 */
  readonly id?: string
}

/** An entry of a script: an answer, its text, an error to throw, or a function that returns one of these. */
export type ScriptEntry =
  | string
  | ScriptedReply
  | Error
  | ((request: ModelRequest) => string | ScriptedReply | Error)

export interface ScriptedModelOptions {
  /** Provider of the model. @default 'scripted' */
  readonly provider?: string
  /** Name of the model. @default 'model' */
  readonly name?: string
  /** Price of the model, unless the run's prices have one. @default 0 without a `provider`, else unknown */
  readonly price?: ModelPrice
  /** Wait before each piece of text or reasoning, in milliseconds. @default 0 */
  readonly delayMs?: number
  /**
   * Maximum number of requests in `requests`, the newest ones; use 0 in a long-running server. @default
   * Infinity
   */
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

/** Default price of scripted models, so that tests with a limit on cost need no prices. */
const FREE: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 }

/** A scripted model with its requests. */
export interface ScriptedModel extends ChatModel {
  /** Requests so far, in order; at most `maxRequests`, the newest ones. */
  readonly requests: readonly ModelRequest[]
}

/**
 * Creates a model that answers with the entries of `script`, one per call. A script that is a function
 * answers every call; a call fails when a list has no further entry.
 */
export function scriptedModel(
  script: readonly ScriptEntry[] | ((request: ModelRequest) => string | ScriptedReply | Error),
  options: ScriptedModelOptions = {},
): ScriptedModel {
  assertKnownOptions('Cannot create a scripted model:', options, OPTION_NAMES)
  const { provider = 'scripted', name = 'model', delayMs = 0, clock = systemClock } = options
  const { maxRequests = Infinity } = options
  // A model with a provider's name has the price for that model in the run's prices.
  const price = options.price ?? (options.provider === undefined ? FREE : undefined)
  const requests: ModelRequest[] = []
  let requestCount = 0
  let callCount = 0
  const nextId = (): string => {
    callCount += 1
    return `call-${callCount}`
  }
  const takeEntry = (request: ModelRequest): ScriptedReply => {
    requestCount += 1
    if (maxRequests > 0) requests.push({ ...request, messages: [...request.messages] })
    if (requests.length > maxRequests) requests.shift()
    const entry = typeof script === 'function' ? script : script[requestCount - 1]
    return readEntry(entry, request, requestCount)
  }
  /** Yields the chunks of the next answer. */
  function* answer(request: ModelRequest, signal: AbortSignal): Generator<ModelChunk> {
    const scripted = takeEntry(request)
    for (const text of splitWords(scripted.reasoning ?? '')) yield { type: 'reasoning', text }
    for (const text of splitWords(scripted.text ?? '')) yield { type: 'text', text }
    signal.throwIfAborted()
    yield { type: 'reply', reply: toReply(scripted, request, nextId) }
  }
  return {
    provider,
    name,
    ...(price === undefined ? {} : { price }),
    requests,
    stream(request, { signal }) {
      const chunks = answer(request, signal)
      // Not an async generator: that would cost each chunk two more turns of the microtask queue.
      const next = async (): Promise<IteratorResult<ModelChunk>> => {
        const result = chunks.next()
        if (result.done === true) return result
        if (delayMs > 0 && result.value.type !== 'reply') await sleep(clock, delayMs, signal)
        signal.throwIfAborted()
        return result
      }
      return { [Symbol.asyncIterator]: () => ({ next }) }
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
function splitWords(text: string): readonly string[] {
  if (text === '') return []
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []
}

function toReply(scripted: ScriptedReply, request: ModelRequest, nextId: () => string): ModelReply {
  const text = scripted.text ?? ''
  const toolCalls = (scripted.toolCalls ?? []).map((call): ToolCall => ({
    id: call.id ?? nextId(),
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }))
  const { refusal, usage = estimateUsage(request, scripted, toolCalls) } = scripted
  return {
    text,
    toolCalls,
    usage,
    finishReason: scripted.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    ...(refusal === undefined ? {} : { refusal }),
  }
}

function estimateUsage(
  { messages }: ModelRequest,
  { text = '', reasoning = '' }: ScriptedReply,
  toolCalls: readonly ToolCall[],
): ModelUsage {
  const read = messages.reduce((sum, { content }) => sum + content.length, 0)
  const written = toolCalls.reduce((sum, call) => {
    return sum + call.name.length + call.arguments.length
  }, text.length + reasoning.length)
  return {
    inputTokens: estimateTokens(read),
    outputTokens: estimateTokens(written),
    ...(reasoning === '' ? {} : { reasoningTokens: estimateTokens(reasoning.length) }),
  }
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4)
}
