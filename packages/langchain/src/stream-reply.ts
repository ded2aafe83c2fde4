/** Makes one request to a model: passes reasoning and text on as they arrive and ends with the reply. */
import { TuttiError } from '@tutti/core'

import { bindTools } from './bind-tools.ts'
import { rejectOnAbort } from './call-scope.ts'
import { askForOutput } from './output/ask-for-output.ts'
import { isBrokenEnd } from './finish-reason.ts'
import { createReplyBuilder } from './reply-builder.ts'
import { prepareRequest } from './rules/prepare-request.ts'
import { toMessages } from './to-messages.ts'

import type { LoadedModel } from './load-model.ts'
import type { ModelIdentity } from './providers.ts'
import type { ModelChunk, ModelRequest } from '@tutti/ensemble'

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
    const { reasoning, text } = builder.add(piece.value)
    if (reasoning !== '') yield { type: 'reasoning', text: reasoning }
    if (text !== '') yield { type: 'text', text }
  }
  signal.throwIfAborted()
  assertEnd(builder.end(), loaded.saysWhyItEnds ?? builder.isOfLangChain(), identity)
  yield { type: 'reply', reply: prepared.restore(builder.build()) }
}

/** An answer without a finish reason was cut off by the network if its provider always sends one. */
function assertEnd(
  said: string | undefined,
  isExpected: boolean,
  { provider, name }: ModelIdentity,
): void {
  const isBroken = said !== undefined && isBrokenEnd(said)
  if (!isBroken && (said !== undefined || !isExpected)) return
  const why = isBroken ? `the provider broke off the answer (${said})` : 'the answer was cut off'
  throw new TuttiError('MODEL_FAILED', `Cannot call ${provider}:${name}: ${why}`, {
    retryable: true,
    details: { provider, model: name },
  })
}
