/** One model call: reads the stream to its reply, reports text as it comes, and keeps time. */
import { CANCEL_GRACE_MS, TuttiError, type Clock } from '@tutti/core'

import type { ChatModel, ModelReply, ModelRequest } from './chat-model.ts'

/** How a call is watched. */
export interface CallModelOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Told of each piece of text as it arrives. */
  readonly onText: (text: string) => void
}

/** What a call came to. */
export interface ModelCallResult {
  readonly reply: ModelReply
  readonly latencyMs: number
}

/**
 * Calls `model` once. When the signal aborts it waits for the call to stop, at most `CANCEL_GRACE_MS`; a
 * model that goes on after that is abandoned, and the error says so.
 *
 * @throws {TuttiError} MODEL_FAILED when the call fails, CANCELLED when the signal aborted it.
 */
export async function callModel(
  model: ChatModel,
  request: ModelRequest,
  options: CallModelOptions,
): Promise<ModelCallResult> {
  const { signal, clock } = options
  const startedAt = clock.elapsed()
  try {
    signal.throwIfAborted()
    const reading = readReply(model.stream(request, { signal }), options)
    const reply = await orAbandoned(reading, options)
    return { reply, latencyMs: Math.round(clock.elapsed() - startedAt) }
  } catch (error) {
    if (TuttiError.isInstance(error) && error.code === 'CANCELLED') throw error
    if (signal.aborted)
      throw new TuttiError('CANCELLED', 'Model call was cancelled', { cause: error })
    throw TuttiError.from(error, 'MODEL_FAILED')
  }
}

/** What `reading` comes to; rejects when it has not stopped so long after the signal aborted. */
function orAbandoned(
  reading: Promise<ModelReply>,
  { signal, clock }: CallModelOptions,
): Promise<ModelReply> {
  return new Promise((resolve, reject) => {
    let stopGrace: (() => void) | undefined
    const onAbort = (): void => {
      stopGrace = clock.after(CANCEL_GRACE_MS, () => {
        const message = 'Model call was abandoned: it ignored its signal'
        reject(new TuttiError('CANCELLED', message))
      })
    }
    signal.addEventListener('abort', onAbort, { once: true })
    // A model may have begun, and the signal aborted, before there was a listener.
    if (signal.aborted) onAbort()
    const done = (): void => {
      signal.removeEventListener('abort', onAbort)
      stopGrace?.()
    }
    reading.finally(done).then(resolve, reject)
  })
}

async function readReply(
  chunks: ReturnType<ChatModel['stream']>,
  { signal, onText }: Pick<CallModelOptions, 'signal' | 'onText'>,
): Promise<ModelReply> {
  let reply: ModelReply | undefined
  for await (const chunk of chunks) {
    // What still comes after the abort belongs to a call that is over.
    signal.throwIfAborted()
    if (chunk.type === 'text') onText(chunk.text)
    else reply = chunk.reply
  }
  if (reply === undefined) {
    throw new TuttiError('MODEL_FAILED', 'Model stream ended without a reply', { retryable: true })
  }
  return reply
}
