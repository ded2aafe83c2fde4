/** One request to a model: asks, passes text on as it comes, and ends with the reply. */
import { TuttiError } from '@tutti/core'

import { bindTools } from './bind-tools.ts'
import { untilAborted } from './call-scope.ts'
import { askForOutput } from './output/ask-for-output.ts'
import { createReplyBuilder } from './reply-builder.ts'
import { toMessages } from './to-messages.ts'

import type { LoadedModel } from './load-model.ts'
import type { ModelIdentity } from './options.ts'
import type { ModelChunk, ModelRequest } from '@tutti/ensemble'

/** Providers whose every answer says why it ends; without that word it was cut off on the way. */
const SAY_WHY_THEY_END: ReadonlySet<string> = new Set(['openai', 'anthropic'])

/** What a call needs besides its request. */
export interface StreamReplyOptions {
  readonly identity: ModelIdentity
  readonly signal: AbortSignal
  /** Whether the model is asked for the form of its answer. */
  readonly structuredOutput: boolean
}

/** Streams the answer of `loaded` to `request`. Throws whatever LangChain throws, unmapped. */
export async function* streamReply(
  loaded: LoadedModel,
  request: ModelRequest,
  { identity, signal, structuredOutput }: StreamReplyOptions,
): AsyncGenerator<ModelChunk> {
  const model = bindTools(loaded.model, identity, request)
  const { messages, callOptions } = structuredOutput
    ? askForOutput(request, {
        provider: identity.provider,
        streams: !loaded.model.disableStreaming,
      })
    : { messages: request.messages, callOptions: {} }
  const stream = await untilAborted(
    model.stream(toMessages(messages, loaded.messages, identity), {
      ...callOptions,
      signal,
      maxRetries: 0,
    }),
    signal,
  )
  const pieces = stream[Symbol.asyncIterator]()
  const builder = createReplyBuilder(identity.provider)
  for (;;) {
    const piece = await untilAborted(pieces.next(), signal)
    if (piece.done === true) break
    const text = builder.add(piece.value)
    if (text !== '') yield { type: 'text', text }
  }
  signal.throwIfAborted()
  if (SAY_WHY_THEY_END.has(identity.provider) && !builder.isFinished()) throw cutOff(identity)
  yield { type: 'reply', reply: builder.build() }
}

function cutOff({ provider, name }: ModelIdentity): TuttiError {
  return new TuttiError(
    'MODEL_FAILED',
    `Cannot call ${provider}:${name}: the answer was cut off before its end`,
    { retryable: true, details: { provider, model: name } },
  )
}
