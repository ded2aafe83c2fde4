/**
 * Makes one request to a model: passes reasoning and text on as they arrive and ends with the reply.
 *
 * LC-S1 Only a whole answer becomes a reply: it has a finish reason, or complete tool calls. An answer that the
 *    provider broke off, that was cut, or that contradicts itself is a failure that may be retried.
 */
import { TuttiError } from '@tutti/core'

import { bindTools } from './bind-tools.ts'
import { rejectOnAbort } from './call-scope.ts'
import { askForOutput } from './output/ask-for-output.ts'
import { isBrokenEnd } from './finish-reason.ts'
import { createReplyBuilder, type AddedTexts } from './reply-builder.ts'
import { prepareRequest } from './rules/prepare-request.ts'
import { toMessages } from './to-messages.ts'

import type { LoadedModel } from './load-model.ts'
import type { ModelIdentity } from './providers.ts'
import type { ModelChunk, ModelReply, ModelRequest } from '@tutti/ensemble/adapter'

/** The context of a call. */
export interface StreamReplyOptions {
  readonly identity: ModelIdentity
  readonly signal: AbortSignal
  /** Whether the model gets the schema of its answer. */
  readonly structuredOutput: boolean
}

/** Streams the answer of `loaded` to `request`. Throws LangChain's errors unchanged. */
export async function* streamReply(
  loaded: LoadedModel,
  request: ModelRequest,
  { identity, signal, structuredOutput }: StreamReplyOptions,
): AsyncGenerator<ModelChunk> {
  const { maxOutputTokens } = request
  const limited =
    maxOutputTokens === undefined
      ? loaded.model
      : await rejectOnAbort(loaded.limitedTo(maxOutputTokens), signal)
  const { messages, callOptions } = structuredOutput
    ? askForOutput(request, {
        provider: identity.provider,
        streams: !loaded.model.disableStreaming,
      })
    : { messages: request.messages, callOptions: {} }
  const prepared = prepareRequest({ ...request, messages }, identity)
  const model = bindTools(limited, identity, prepared.request)
  const stream = await rejectOnAbort(
    model.stream(toMessages(prepared.request.messages, loaded.messages, identity), {
      ...callOptions,
      signal,
      maxRetries: 0,
    }),
    signal,
  )
  const pieces = stream[Symbol.asyncIterator]()
  const builder = createReplyBuilder(identity.provider)
  for (;;) {
    const piece = await rejectOnAbort(pieces.next(), signal)
    if (piece.done === true) break
    yield* toChunks(builder.add(piece.value))
  }
  yield* toChunks(builder.end())
  signal.throwIfAborted()
  const isReasonExpected = loaded.saysWhyItEnds ?? builder.isOfLangChain()
  const reply = withReason(builder.build(), builder.hasCompleteCalls())
  const fault = findFault(reply, isReasonExpected)
  if (fault !== undefined) throw createFaultError(fault, reply, identity)
  yield { type: 'reply', reply: prepared.restore(reply) }
}

function* toChunks({ reasoning, text }: AddedTexts): Generator<ModelChunk> {
  if (reasoning !== '') yield { type: 'reasoning', text: reasoning }
  if (text !== '') yield { type: 'text', text }
}

/** Returns why a reply is not a whole answer; undefined if it is. [LC-S1] */
function findFault(reply: ModelReply, isReasonExpected: boolean): string | undefined {
  const { providerFinishReason: said, finishReason, toolCalls } = reply
  if (said !== undefined && isBrokenEnd(said)) return `the provider broke off the answer (${said})`
  if (said === undefined && isReasonExpected && finishReason !== 'tool_calls') {
    return 'the answer was cut off'
  }
  if (finishReason === 'tool_calls' && toolCalls.length === 0) {
    return `the provider reported tool calls (${said}) but sent none`
  }
  if (finishReason !== 'length' && toolCalls.some(({ name }) => name === '')) {
    return 'the provider sent a tool call without a name'
  }
  return undefined
}

/** Returns `reply` with the finish reason of complete calls, which end an answer also without a reported reason. */
function withReason(reply: ModelReply, hasCompleteCalls: boolean): ModelReply {
  return reply.finishReason === 'unknown' && hasCompleteCalls
    ? { ...reply, finishReason: 'tool_calls' }
    : reply
}

function createFaultError(
  fault: string,
  { providerFinishReason }: ModelReply,
  { provider, name }: ModelIdentity,
): TuttiError {
  return new TuttiError('MODEL_FAILED', `Cannot call ${provider}:${name}: ${fault}`, {
    retryable: true,
    details: {
      provider,
      model: name,
      ...(providerFinishReason === undefined ? {} : { providerFinishReason }),
    },
  })
}
