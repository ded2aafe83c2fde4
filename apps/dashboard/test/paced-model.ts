/** A model that says what a test tells it to, when the test tells it. */
import { TuttiError } from '@tutti/core'

import type { ChatModel, ModelChunk, ModelReply } from '@tutti/ensemble'

/** How a call of the model ends. */
export interface ConductedAnswer {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[]
  /** @default 100 read and 10 written */
  readonly usage?: ModelReply['usage']
}

/** The model. What is told while nobody asks it waits for its next call. */
export interface ConductedModel extends ChatModel {
  /** Says a piece of the answer. */
  say(text: string): void
  /** Ends the call; its text is what was said. */
  answer(answer?: ConductedAnswer): void
  /** Fails the call. */
  fail(message: string, options?: { readonly retryable: boolean }): void
}

type Cue =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'answer'; readonly answer: ConductedAnswer }
  | { readonly kind: 'fail'; readonly error: Error }

/** Makes a model; `provider:name` is what it is priced by. */
export function conductedModel(name = 'conducted'): ConductedModel {
  const cues: Cue[] = []
  let wake: () => void = () => undefined
  const give = (cue: Cue): void => {
    cues.push(cue)
    wake()
  }
  const next = async (signal: AbortSignal): Promise<Cue> => {
    for (;;) {
      signal.throwIfAborted()
      const cue = cues.shift()
      if (cue !== undefined) return cue
      await new Promise<void>((resolve) => {
        wake = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }
  let calls = 0
  return {
    provider: 'test',
    name,
    say: (text) => give({ kind: 'say', text }),
    answer: (answer = {}) => give({ kind: 'answer', answer }),
    fail: (message, { retryable } = { retryable: false }) => {
      // The shortest wait there is before the next call.
      const details = retryable ? { retryAfterMs: 0 } : {}
      give({ kind: 'fail', error: new TuttiError('MODEL_FAILED', message, { retryable, details }) })
    },
    async *stream(_request, { signal }): AsyncGenerator<ModelChunk> {
      let text = ''
      for (;;) {
        const cue = await next(signal)
        if (cue.kind === 'fail') throw cue.error
        if (cue.kind === 'answer') {
          const { toolCalls = [], usage = { inputTokens: 100, outputTokens: 10 } } = cue.answer
          const asked = toolCalls.map((call) => {
            calls += 1
            return { ...call, id: `call-${calls}`, arguments: JSON.stringify(call.arguments) }
          })
          yield { type: 'reply', reply: { text, toolCalls: asked, usage } }
          return
        }
        text += cue.text
        yield { type: 'text', text: cue.text }
      }
    },
  }
}

/** A latch that a tool waits at until the test opens it. */
export function waitingPlace(): {
  readonly open: () => void
  readonly pass: (signal: AbortSignal) => Promise<void>
} {
  const latch = Promise.withResolvers<void>()
  return {
    open: latch.resolve,
    async pass(signal) {
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      await Promise.race([latch.promise, aborted])
    },
  }
}
