import type { Clock } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import type { ChatModel, ModelRequest } from '../src/adapter.ts'

/** A model with a delay, and its requests. */
export interface TimedModel extends ChatModel {
  readonly requests: readonly ModelRequest[]
}

/**
 * Returns a model that waits `ms` by `clock` and then returns `answer`, or throws it. It obeys its signal.
 */
export function timedModel(clock: Clock, ms: number, answer: string | Error = 'done'): TimedModel {
  const requests: ModelRequest[] = []
  return {
    provider: 'test',
    name: 'timed',
    requests,
    async *stream(request, { signal }) {
      requests.push(request)
      await sleep(clock, ms, signal)
      signal.throwIfAborted()
      if (answer instanceof Error) throw answer
      yield { type: 'text', text: answer }
      yield {
        type: 'reply',
        reply: { text: answer, toolCalls: [], usage: { inputTokens: 3, outputTokens: 2 } },
      }
    },
  }
}
