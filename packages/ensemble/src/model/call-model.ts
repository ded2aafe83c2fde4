/** One model call: reads the stream up to the reply, reports text as it arrives, and measures the latency. */
import { TuttiError, type Clock } from '@tutti/core'

import { stoppedError } from '../work/stopped-error.ts'
import { isAbandoned, untilStopped } from '../work/until-stopped.ts'

import type { ChatModel, ModelReply, ModelRequest } from './chat-model.ts'

/** Options of a model call. */
export interface CallModelOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Called with each piece of text as it arrives. */
  readonly onText: (text: string) => void
}

/** Result of a model call. */
export interface ModelCallResult {
  readonly reply: ModelReply
  readonly latencyMs: number
}

/**
 * Calls `model` once. After the signal aborts, waits at most `CANCEL_GRACE_MS` for the call to stop; a model
 * that has not stopped by then is abandoned and named in the error.
 *
 * @throws {TuttiError} MODEL_FAILED if the call fails, or the reason of the abort.
 */
export function callModel(
  model: ChatModel,
  request: ModelRequest,
  options: CallModelOptions,
): Promise<ModelCallResult> {
  const { signal, clock } = options
  const startedAt = clock.elapsed()
  const reading = readReply(model, request, options)
  return untilStopped(reading, { signal, clock, what: 'Model call' }).then(
    (reply) => ({ reply, latencyMs: Math.round(clock.elapsed() - startedAt) }),
    (error: unknown) => {
      if (!signal.aborted) throw TuttiError.from(error, 'MODEL_FAILED')
      throw isAbandoned(error) ? error : stoppedError(signal, 'Model call', { cause: error })
    },
  )
}

async function readReply(
  model: ChatModel,
  request: ModelRequest,
  { signal, onText }: Pick<CallModelOptions, 'signal' | 'onText'>,
): Promise<ModelReply> {
  signal.throwIfAborted()
  let reply: ModelReply | undefined
  for await (const chunk of model.stream(request, { signal })) {
    // Chunks after the abort are not reported.
    signal.throwIfAborted()
    if (chunk.type === 'text') onText(chunk.text)
    else reply = chunk.reply
  }
  if (reply === undefined) {
    throw new TuttiError('MODEL_FAILED', 'Model stream ended without a reply', { retryable: true })
  }
  return reply
}
