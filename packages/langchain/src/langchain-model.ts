/**
 * The adapter: a LangChain chat model behind the model port.
 *
 *   request ─▶ load (once) ─▶ one attempt ─▶ text … text ─▶ reply
 *
 * It leaves loading to `load-model.ts`, the attempt to `stream-reply.ts`, and what a failure means to
 * `to-model-error.ts`. Whether a call is made again is the engine's to decide.
 *
 * M1 Nothing of LangChain is loaded before the first call; a load that failed is tried again.
 * M2 One call makes one request at most: nothing is retried here nor by the provider's client.
 * M3 An aborted call stops at once and throws the reason, whatever the model does; its request is closed.
 * M4 Every other throw is a TuttiError that says whether trying again may help, also after text has
 *    been passed on, and holds no key.
 * M5 What a provider wants to see again of its reply comes out with it and goes back in unchanged.
 * M6 A model with a structured mode is held to the form of the answer, with tools or without.
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

import type { ChatModel, ModelChunk, ModelRequest } from '@tutti/ensemble'

/**
 * Makes a model of the port from a LangChain model: named, such as `anthropic:claude-sonnet-4-5`, made
 * already, or made by a function at the first call. Calls may run at the same time.
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
    `Cannot call ${provider}:${name}: no whole answer within ${timeoutMs} ms`,
    { retryable: true, details: { provider, model: name, timeoutMs } },
  )
}
