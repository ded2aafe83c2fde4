/** One model call: reads the stream to its reply, reports text as it comes, and keeps time. */
import { TuttiError, type Clock } from '@tutti/core'

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
 * Calls `model` once.
 *
 * @throws {TuttiError} MODEL_FAILED when the call fails, CANCELLED when the signal aborted it.
 */
export async function callModel(
  model: ChatModel,
  request: ModelRequest,
  { signal, clock, onText }: CallModelOptions,
): Promise<ModelCallResult> {
  const startedAt = clock.elapsed()
  try {
    signal.throwIfAborted()
    const reply = await readReply(model.stream(request, { signal }), { signal, onText })
    return { reply, latencyMs: Math.round(clock.elapsed() - startedAt) }
  } catch (error) {
    if (signal.aborted)
      throw new TuttiError('CANCELLED', 'Model call was cancelled', { cause: error })
    throw TuttiError.from(error, 'MODEL_FAILED')
  }
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
