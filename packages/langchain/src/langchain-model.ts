/**
 * The adapter: a LangChain chat model behind the model port.
 *
 *   request ─▶ load (once) ─▶ attempt ─▶ text … text ─▶ reply
 *                               ▲  │
 *                     wait ◀────┴──┘ failed, may pass, no text yet
 *
 * It leaves loading to `load-model.ts`, one attempt to `stream-reply.ts`, and what a failure means to
 * `to-model-error.ts`.
 *
 * M1 Nothing of LangChain is loaded before the first call; a load that failed is tried again.
 * M2 Text that was passed on is never taken back: after the first piece nothing is retried.
 * M3 An aborted call stops at once and throws the reason, whatever the model does; its request is closed.
 * M4 Every other throw is a TuttiError that says whether trying again may help, and holds no key.
 */
import { sleep, TuttiError } from '@tutti/core'

import { openCallScope, untilAborted } from './call-scope.ts'
import { loadModel, loadOnce, type LoadedModel } from './load-model.ts'
import {
  resolveOptions,
  type LangchainModelOptions,
  type LangchainSource,
  type ResolvedOptions,
} from './options.ts'
import { retryDelayMs } from './retry.ts'
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
    stream: (request, { signal }) => call(request, { ...resolved, load, signal }),
  }
}

interface Call extends ResolvedOptions {
  readonly load: () => Promise<LoadedModel>
  readonly signal: AbortSignal
}

async function* call(request: ModelRequest, options: Call): AsyncGenerator<ModelChunk> {
  const scope = openCallScope({ ...options, timeoutError: () => timeoutError(options) })
  try {
    yield* attempts(request, { ...options, signal: scope.signal })
  } finally {
    scope.close()
  }
}

async function* attempts(request: ModelRequest, options: Call): AsyncGenerator<ModelChunk> {
  const { identity, clock, maxRetries, signal } = options
  let { secrets } = options
  for (let retries = 0; ; retries += 1) {
    let started = false
    try {
      const loaded = await untilAborted(options.load(), signal)
      secrets = [...options.secrets, ...loaded.secrets]
      for await (const chunk of streamReply(loaded, request, options)) {
        started = true
        yield chunk
      }
      return
    } catch (error) {
      signal.throwIfAborted()
      const failure = toModelError(error, identity, secrets)
      const delayMs = retryDelayMs(failure, { retries, maxRetries, random: Math.random() })
      if (started || delayMs === undefined) throw failure
      await sleep(clock, delayMs, signal)
      signal.throwIfAborted()
    }
  }
}

function timeoutError({ identity: { provider, name }, timeoutMs }: ResolvedOptions): TuttiError {
  return new TuttiError(
    'MODEL_FAILED',
    `Cannot call ${provider}:${name}: no whole answer within ${timeoutMs} ms`,
    { retryable: true, details: { provider, model: name, timeoutMs } },
  )
}
