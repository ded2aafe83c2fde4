/**
 * Adapts a LangChain chat model to the model port.
 *
 *   request ─▶ load (once) ─▶ one attempt ─▶ reasoning … text … ─▶ reply
 *
 * `load-model.ts` loads the model, `stream-reply.ts` makes the attempt, and `to-model-error.ts` interprets
 * failures. The engine decides about retries.
 *
 * LC-M1 LangChain is not loaded before the first call; a load that failed is tried again.
 * LC-M2 One call makes at most one request: neither this package nor the provider's client retries.
 * LC-M3 An aborted call stops immediately and throws the reason, regardless of the model; its request is closed.
 * LC-M4 Every other error is a TuttiError that says whether a retry may help, also after text has been passed on, and
 *    does not contain a key.
 * LC-M5 Content that a provider requires in later requests is part of the reply and is sent back unchanged.
 * LC-M6 A model with a structured mode must follow the schema of the answer, with tools or without.
 */
import { TuttiError } from '@tutti/core'

import { openCallScope, rejectOnAbort } from './call-scope.ts'
import { loadModel, loadOnce, type LoadedModel } from './load-model.ts'
import {
  resolveOptions,
  type LangchainModelOptions,
  type LangchainSource,
  type ResolvedOptions,
} from './options.ts'
import { streamReply } from './stream-reply.ts'
import { toModelError } from './to-model-error.ts'

import type { ChatModel, ModelChunk, ModelRequest } from '@tutti/ensemble/adapter'

/**
 * Creates a model of the port from a LangChain model: a name such as `anthropic:claude-sonnet-4-5`, an instance, or
 * a function that creates one at the first call. Concurrent calls are allowed.
 *
 * @throws {TypeError} naming every problem of the options.
 */
export function langchainModel(
  source: LangchainSource,
  options: LangchainModelOptions = {},
): ChatModel {
  const resolved = resolveOptions(source, options)
  const load = loadOnce(() => loadModel(resolved))
  return {
    ...resolved.identity,
    structuredOutput: resolved.structuredOutput,
    stream: (request, { signal }) => call(request, { ...resolved, load, signal }),
  }
}

interface Call extends ResolvedOptions {
  readonly load: () => Promise<LoadedModel>
  readonly signal: AbortSignal
}

async function* call(request: ModelRequest, options: Call): AsyncGenerator<ModelChunk> {
  const scope = openCallScope({ ...options, timeoutError: () => timeoutError(options) })
  const { signal } = scope
  let { secrets } = options
  try {
    const loaded = await rejectOnAbort(options.load(), signal)
    secrets = [...secrets, ...loaded.secrets]
    yield* streamReply(loaded, request, { ...options, signal })
  } catch (error) {
    signal.throwIfAborted()
    throw toModelError(error, options.identity, secrets)
  } finally {
    scope.close()
  }
}

function timeoutError({ identity: { provider, name }, timeoutMs }: ResolvedOptions): TuttiError {
  return new TuttiError(
    'MODEL_FAILED',
    `Cannot call ${provider}:${name}: no complete answer within ${timeoutMs} ms`,
    { retryable: true, details: { provider, model: name, timeoutMs } },
  )
}
