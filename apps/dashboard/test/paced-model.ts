/** A model whose answers are controlled by a test. */
import { TuttiError } from '@tutti/core'

import type { ChatModel, ModelChunk, ModelReply } from '@tutti/ensemble/adapter'

/** Outcome of a model call. */
export interface ConductedAnswer {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[]
  /** @default 100 input and 10 output tokens */
  readonly usage?: ModelReply['usage']
}

/** A controlled model. Output given before a call is queued for the next one. */
export interface ConductedModel extends ChatModel {
  /** Streams a part of the reasoning. */
  think(text: string): void
  /** Streams a part of the answer. */
  say(text: string): void
  /** Ends the call with the streamed text, or with "Done" if there is neither text nor a call. */
  answer(answer?: ConductedAnswer): void
  /** Fails the call. */
  fail(message: string, options?: { readonly retryable: boolean }): void
}

type Cue =
  | { readonly kind: 'say' | 'think'; readonly text: string }
  | { readonly kind: 'answer'; readonly answer: ConductedAnswer }
  | { readonly kind: 'fail'; readonly error: Error }

/** Creates a model; prices refer to `provider:name`. */
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
    think: (text) => give({ kind: 'think', text }),
    say: (text) => give({ kind: 'say', text }),
    answer: (answer = {}) => give({ kind: 'answer', answer }),
    fail: (message, { retryable } = { retryable: false }) => {
      // The shortest possible wait before the next call.
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
          // An empty answer would be requested once more.
          const answered = text === '' && asked.length === 0 ? 'Done' : text
          yield { type: 'reply', reply: { text: answered, toolCalls: asked, usage } }
          return
        }
        if (cue.kind === 'think') {
          yield { type: 'reasoning', text: cue.text }
          continue
        }
        text += cue.text
        yield { type: 'text', text: cue.text }
      }
    },
  }
}

/** A latch that a tool waits for until the test opens it. */
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
