/** One model call: reads the stream up to the reply and reports text as it arrives. */
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

/**
 * Calls `model` once and returns its reply. After the signal aborts, waits at most `CANCEL_GRACE_MS` for the
 * call to stop; a model that has not stopped by then is abandoned and named in the error.
 *
 * @throws {TuttiError} MODEL_FAILED if the call fails, or the reason of the abort.
 */
export async function callModel(
  model: ChatModel,
  request: ModelRequest,
  options: CallModelOptions,
): Promise<ModelReply> {
  const { signal, clock } = options
  try {
    const reading = readReply(model, request, options)
    return await untilStopped(reading, { signal, clock, what: 'Model call' })
  } catch (error) {
    if (!signal.aborted) throw TuttiError.from(error, 'MODEL_FAILED')
    throw isAbandoned(error) ? error : stoppedError(signal, 'Model call', { cause: error })
  }
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
