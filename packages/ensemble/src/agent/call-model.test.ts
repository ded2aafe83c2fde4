import { setImmediate as nextPass } from 'node:timers/promises'
import { TuttiError } from '@tutti/core'
import { describe, expect, it, vi } from 'vitest'

import { fakeClock, scriptedModel } from '../../test/testing.ts'
import { callModel } from './call-model.ts'

import type { ChatModel, ModelChunk, ModelReply } from '../model/chat-model.ts'

const REQUEST = { messages: [], tools: [], toolChoice: 'auto' } as const
const clock = fakeClock()

/** Returns a model that sends these chunks and ignores the signal. */
function sending(...chunks: readonly (ModelChunk | Error)[]): ChatModel {
  return {
    provider: 'test',
    name: 'sending',
    async *stream() {
      for (const chunk of chunks) {
        await Promise.resolve()
        if (chunk instanceof Error) throw chunk
        yield chunk
      }
    },
  }
}

interface Settings {
  readonly signal?: AbortSignal
  readonly onText?: (text: string) => void
  readonly onReasoning?: (text: string) => void
}

function call(
  model: ChatModel,
  {
    signal = new AbortController().signal,
    onText = () => undefined,
    onReasoning = () => undefined,
  }: Settings = {},
): Promise<ModelReply> {
  return callModel(model, REQUEST, { signal, clock, onText, onReasoning }).then(
    (received) => received.reply,
  )
}

const reply = { type: 'reply', reply: { text: 'a b', toolCalls: [] } } as const
const text = (part: string): ModelChunk => ({ type: 'text', text: part })

describe('callModel', () => {
  it('callModel returns the reply and reports text as it arrives', async () => {
    const parts: string[] = []
    const calling = call(scriptedModel(['one two'], { clock, delayMs: 30 }), {
      onText: (part) => parts.push(`${clock.elapsed()}${part}`),
    })
    await clock.advance(30)
    expect(parts).toEqual(['30one'])
    await clock.advance(30)
    expect(parts).toEqual(['30one', '60 two'])
    expect(await calling).toMatchObject({ text: 'one two' })
  })

  it('callModel reports reasoning separately from text', async () => {
    const parts: string[] = []
    const take = (kind: string) => (part: string) => parts.push(`${kind} ${part}`)
    const model = sending({ type: 'reasoning', text: 'Hm.' }, text('a'), text(' b'), reply)
    const settings = { onText: take('text'), onReasoning: take('reasoning') }
    expect(await call(model, settings)).toEqual(reply.reply)
    expect(parts).toEqual(['reasoning Hm.', 'text a', 'text  b'])
  })

  it('callModel reads the stream to its end', async () => {
    let ended = false
    const model = sending(text('a'), reply)
    await call({
      ...model,
      async *stream(request, options) {
        yield* model.stream(request, options)
        ended = true
      },
    })
    expect(ended).toBe(true)
  })

  it('callModel leaves the event loop to other work after every 1,000 chunks while the model always has a next chunk', async () => {
    const busy: ChatModel = {
      provider: 'test',
      name: 'busy',
      async *stream() {
        for (let index = 0; index < 4_000; index += 1) {
          yield text(`${index}`)
        }
        yield reply
      },
    }
    const parts: string[] = []
    let isOver = false
    const calling = call(busy, { onText: (part) => parts.push(part) }).finally(() => {
      isOver = true
    })
    const seen: number[] = []
    while (!isOver) {
      await nextPass()
      seen.push(parts.length)
    }
    await calling
    expect([...new Set(seen)]).toEqual([1_000, 2_000, 3_000, 4_000])
  })

  it('[ENS-L10] callModel fails with MODEL_FAILED and the cause', async () => {
    const overloaded = new RangeError('Overloaded')
    await expect(call(sending(text('a'), overloaded))).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'Overloaded',
      cause: overloaded,
      retryable: false,
    })
  })

  it('[ENS-L10] callModel fails in the same way if the adapter throws before it streams', async () => {
    const model: ChatModel = {
      ...sending(),
      stream() {
        throw new Error('No key')
      },
    }
    await expect(call(model)).rejects.toMatchObject({ code: 'MODEL_FAILED', message: 'No key' })
  })

  it('[ENS-L10] callModel passes on a TuttiError of the adapter unchanged', async () => {
    const error = new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true })
    await expect(call(sending(error))).rejects.toBe(error)
  })

  it('[ENS-L10] callModel fails with a retryable error if the stream has no reply', async () => {
    await expect(call(sending(text('a')))).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'Model stream ended without a reply',
      retryable: true,
    })
  })
})

describe('[ENS-L5] an abort', () => {
  it('An abort of a model call before its begin prevents it', async () => {
    const model = scriptedModel(['never'])
    await expect(call(model, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'CANCELLED',
      message: 'Model call was cancelled',
    })
    expect(model.requests).toEqual([])
  })

  it('An abort of a model call during the stream causes CANCELLED, with the error of the adapter as the cause', async () => {
    const controller = new AbortController()
    const broken = new Error('socket hang up')
    const model: ChatModel = {
      ...sending(),
      async *stream(_request, { signal }) {
        yield text('a')
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve)
        })
        throw broken
      },
    }
    const calling = call(model, { signal: controller.signal }).catch((error: unknown) => error)
    await clock.advance(0)
    controller.abort()
    expect(await calling).toMatchObject({ code: 'CANCELLED', cause: broken })
  })

  it('An abort of a model call causes CANCELLED if the model continues to write, and no later text is reported', async () => {
    const controller = new AbortController()
    const parts: string[] = []
    const calling = call(sending(text('a'), text('b'), text('c'), reply), {
      signal: controller.signal,
      onText(part) {
        parts.push(part)
        if (part === 'b') controller.abort()
      },
    })
    await expect(calling).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(parts).toEqual(['a', 'b'])
  })

  it('An abort of a model call at its begin ends it, after 5 s if the model ignores the signal', async () => {
    const controller = new AbortController()
    const model: ChatModel = {
      ...sending(),
      async *stream() {
        controller.abort()
        await new Promise(() => undefined)
        yield reply
      },
    }
    const ended = vi.fn<(error: unknown) => void>()
    void call(model, { signal: controller.signal }).catch(ended)
    await clock.advance(4_999)
    expect(ended).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(ended.mock.calls).toEqual([
      [
        expect.objectContaining({
          code: 'CANCELLED',
          message: 'Model call was abandoned: it ignored its signal',
        }),
      ],
    ])
  })

  it('An abort of a model call lets a model that ignores it end its stream', async () => {
    const controller = new AbortController()
    let closed = false
    const model: ChatModel = {
      ...sending(),
      async *stream() {
        try {
          for (;;) {
            await Promise.resolve()
            yield text('on and on ')
          }
        } finally {
          closed = true
        }
      },
    }
    const calling = call(model, {
      signal: controller.signal,
      onText() {
        controller.abort()
      },
    })
    await expect(calling).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(closed).toBe(true)
  })
})
