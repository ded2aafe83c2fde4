/** One model call: reads the stream up to the reply and reports text and reasoning as they arrive. */
import { TuttiError, type Clock } from '@tutti/core'
import { BusyLoop } from '@tutti/core/internal'

import { completeUsage, findTexts, readUsage, type ModelExchange } from '../usage/read-usage.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'

import type { ChatModel, ModelReply, ModelRequest, ModelUsage } from '../model/chat-model.ts'

export interface CallModelOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Called with each piece of text as it arrives. */
  onText(text: string): void
  /** Called with each piece of the model's reasoning as it arrives. */
  onReasoning(text: string): void
}

/** A reply whose usage has been read. */
export interface ReceivedReply {
  readonly reply: ModelReply
  /** Usage of the reply, with estimates for unknown counts. */
  readonly complete: ModelUsage
}

/**
 * Calls `model` once and returns its reply. After the signal aborts, waits at most `CANCEL_GRACE_MS` for the
 * call to stop; a model that has not stopped by then is abandoned and named in the error.
 *
 * @throws {TuttiError} MODEL_FAILED if the call fails, or the reason of the abort.
 */
export function callModel(
  model: ChatModel,
  request: ModelRequest,
  options: CallModelOptions,
): Promise<ReceivedReply> {
  const { signal, clock } = options
  return untilStopped(readReply(model, request, options), { signal, clock, what: 'Model call' })
}

async function readReply(
  model: ChatModel,
  request: ModelRequest,
  options: CallModelOptions,
): Promise<ReceivedReply> {
  const { signal } = options
  let reply: ModelReply | undefined
  let reasoningLength = 0
  try {
    signal.throwIfAborted()
    const loop = new BusyLoop()
    for await (const chunk of model.stream(request, { signal })) {
      // Chunks after the abort are not reported.
      signal.throwIfAborted()
      if (chunk.type === 'text') options.onText(chunk.text)
      else if (chunk.type === 'reasoning') {
        reasoningLength += chunk.text.length
        options.onReasoning(chunk.text)
      } else reply = chunk.reply
      const pause = loop.pause()
      if (pause !== undefined) await pause
    }
  } catch (error) {
    if (signal.aborted) throw stoppedError(signal, 'Model call', { cause: error })
    throw TuttiError.from(error, 'MODEL_FAILED')
  }
  if (reply !== undefined) {
    return receiveReply({ messages: request.messages, reply, reasoningLength })
  }
  throw new TuttiError('MODEL_FAILED', 'Model stream ended without a reply', { retryable: true })
}

function receiveReply(exchange: ModelExchange & { readonly reply: ModelReply }): ReceivedReply {
  const { reply } = exchange
  const usage = readUsage(reply.usage, findTexts(exchange))
  return {
    reply: usage === undefined ? withoutUsage(reply) : { ...reply, usage },
    complete: completeUsage(usage, exchange),
  }
}

function withoutUsage({ usage: _, ...reply }: ModelReply): ModelReply {
  return reply
}
