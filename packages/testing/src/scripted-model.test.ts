import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { fakeClock } from './fake-clock.ts'
import { scriptedModel, type ScriptedReply } from './scripted-model.ts'

import type {
  ChatModel,
  Message,
  ModelChunk,
  ModelReply,
  ModelRequest,
} from '@tutti/ensemble/adapter'

const REQUEST: ModelRequest = {
  messages: [{ role: 'user', content: '12345678' }],
  tools: [],
  toolChoice: 'auto',
}

async function read(
  model: ChatModel,
  request = REQUEST,
  { signal } = new AbortController(),
): Promise<readonly ModelChunk[]> {
  const chunks: ModelChunk[] = []
  for await (const chunk of model.stream(request, { signal })) chunks.push(chunk)
  return chunks
}

async function readReply(model: ChatModel, request = REQUEST): Promise<ModelReply> {
  const last = (await read(model, request)).at(-1)
  if (last?.type !== 'reply') throw new Error('No reply')
  return last.reply
}

describe('the answers of a scripted model', () => {
  it('The answers of a scripted model are the entries of its list, one per call, in order', async () => {
    const model = scriptedModel(['first', { text: 'second' }, () => 'third'])
    expect((await readReply(model)).text).toBe('first')
    expect((await readReply(model)).text).toBe('second')
    expect((await readReply(model)).text).toBe('third')
  })

  it('The answers of a scripted model are streamed word by word and concatenate to the text with all its spaces', async () => {
    const text = '  All together\n\nnow,  in time. '
    const chunks = await read(scriptedModel([text]))
    const pieces = chunks.flatMap((chunk) => (chunk.type === 'text' ? [chunk.text] : []))
    expect(pieces).toEqual(['  All', ' together', '\n\nnow,', '  in', ' time. '])
    expect(pieces.join('')).toBe(text)
    expect(chunks.at(-1)).toMatchObject({ type: 'reply', reply: { text } })
  })

  it('The answers of a scripted model stream their reasoning before their text, and count it as output', async () => {
    const chunks = await read(scriptedModel([{ reasoning: 'Let me see. ', text: 'Yes' }]))
    expect(chunks.slice(0, -1)).toEqual([
      { type: 'reasoning', text: 'Let' },
      { type: 'reasoning', text: ' me' },
      { type: 'reasoning', text: ' see. ' },
      { type: 'text', text: 'Yes' },
    ])
    const usage = { outputTokens: 4, reasoningTokens: 3 }
    expect(chunks.at(-1)).toMatchObject({ reply: { text: 'Yes', usage } })
  })

  it.each(['', ' ', '\n\n', 'x'])(
    'The answers of a scripted model stream the text %j in at most one chunk',
    async (text) => {
      const chunks = await read(scriptedModel([text]))
      expect(chunks.slice(0, -1)).toEqual(text === '' ? [] : [{ type: 'text', text }])
      expect(chunks.at(-1)).toMatchObject({ reply: { text } })
    },
  )

  it('The answers of a scripted model have tool calls with arguments as JSON text, and text arguments unchanged', async () => {
    const reply: ScriptedReply = {
      text: 'Let me look.',
      toolCalls: [
        { name: 'look', arguments: { word: 'käse "x"' } },
        { name: 'look', arguments: '{broken', id: 'mine' },
        { name: 'list', arguments: ['a'] },
      ],
    }
    expect(await readReply(scriptedModel([reply]))).toMatchObject({
      text: 'Let me look.',
      toolCalls: [
        { id: 'call-1', name: 'look', arguments: '{"word":"käse \\"x\\""}' },
        { id: 'mine', name: 'look', arguments: '{broken' },
        { id: 'call-2', name: 'list', arguments: '["a"]' },
      ],
    })
  })

  it('The answers of a scripted model have ids that are numbered over all calls', async () => {
    const entry: ScriptedReply = { toolCalls: [{ name: 'look', arguments: {} }] }
    const model = scriptedModel([entry, entry])
    const ids = [await readReply(model), await readReply(model)].map(
      ({ toolCalls }) => toolCalls[0]?.id,
    )
    expect(ids).toEqual(['call-1', 'call-2'])
  })

  it('The answers of a scripted model have the given usage, by default one token per four characters', async () => {
    const usage = { inputTokens: 100, outputTokens: 20 }
    expect((await readReply(scriptedModel([{ text: 'x', usage }]))).usage).toEqual(usage)
    expect((await readReply(scriptedModel(['12345']))).usage).toEqual({
      inputTokens: 2,
      outputTokens: 2,
    })
    const toolCalls = [{ name: 'ab', arguments: {} }]
    expect((await readReply(scriptedModel([{ toolCalls }]))).usage?.outputTokens).toBe(1)
  })

  it('The answers of a scripted model can be computed from the request by a function', async () => {
    const model = scriptedModel(({ messages, toolChoice }) => `${messages.length} ${toolChoice}`)
    const messages: Message[] = [...REQUEST.messages, { role: 'user', content: 'And?' }]
    expect((await readReply(model)).text).toBe('1 auto')
    expect((await readReply(model, { ...REQUEST, messages, toolChoice: 'none' })).text).toBe(
      '2 none',
    )
  })
})

describe('a scripted model fails', () => {
  it('A scripted model fails with the error of its script itself, before any text', async () => {
    const error = new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true })
    const model = scriptedModel([error, () => error, 'fine'])
    await expect(read(model)).rejects.toBe(error)
    await expect(read(model)).rejects.toBe(error)
    expect((await readReply(model)).text).toBe('fine')
  })

  it('A scripted model fails with the error that a function of its script throws', async () => {
    const model = scriptedModel(() => {
      throw new RangeError('Too long')
    })
    await expect(read(model)).rejects.toThrow(new RangeError('Too long'))
  })

  it('A scripted model fails with MODEL_FAILED and the number of the call after the end of its list', async () => {
    const model = scriptedModel(['only one'])
    await read(model)
    await expect(read(model)).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'The script of this model has no answer to call 2',
    })
  })

  it.each(['', 'words that would come'])(
    'A scripted model fails with the reason of an aborted signal, before %j',
    async (text) => {
      const controller = new AbortController()
      const reason = new Error('The user left')
      controller.abort(reason)
      await expect(read(scriptedModel([text]), REQUEST, controller)).rejects.toBe(reason)
    },
  )

  it('A scripted model fails between two chunks if the signal aborts there', async () => {
    const controller = new AbortController()
    const pieces: ModelChunk[] = []
    const reading = async (): Promise<void> => {
      const { signal } = controller
      for await (const chunk of scriptedModel(['one two three']).stream(REQUEST, { signal })) {
        pieces.push(chunk)
        if (pieces.length === 2) controller.abort()
      }
    }
    await expect(reading()).rejects.toMatchObject({ name: 'AbortError' })
    expect(pieces).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: ' two' },
    ])
  })
})

describe('a scripted model records', () => {
  it('A scripted model records every request, also those of failed calls', async () => {
    const model = scriptedModel([new Error('Overloaded'), 'fine'])
    await read(model).catch(() => undefined)
    await read(model, { ...REQUEST, toolChoice: 'none' })
    expect(model.requests).toEqual([REQUEST, { ...REQUEST, toolChoice: 'none' }])
  })

  it('A scripted model records the messages at the time of the call, although the conversation continues', async () => {
    const model = scriptedModel(['fine'])
    const messages = [...REQUEST.messages]
    await read(model, { ...REQUEST, messages })
    messages.push({ role: 'user', content: 'More' })
    expect(model.requests[0]?.messages).toEqual(REQUEST.messages)
  })

  it.each([0, 2])(
    'A scripted model records at most %i of the newest requests, without an effect on its script',
    async (maxRequests) => {
      const model = scriptedModel(['one', 'two', 'three'], { maxRequests })
      await read(model)
      await read(model)
      expect(JSON.stringify(await read(model))).toContain('three')
      expect(model.requests).toHaveLength(maxRequests)
    },
  )
})

describe('a scripted model', () => {
  it('A scripted model is named scripted:model by default', () => {
    expect(scriptedModel([])).toMatchObject({ provider: 'scripted', name: 'model' })
    const options = { provider: 'acme', name: 'writer-1' }
    expect(scriptedModel([], options)).toMatchObject(options)
  })

  it('A scripted model waits before each piece of text by its clock', async () => {
    const clock = fakeClock()
    const times: number[] = []
    const model = scriptedModel(['one two three'], { clock, delayMs: 50 })
    const reading = (async () => {
      const { signal } = new AbortController()
      for await (const _chunk of model.stream(REQUEST, { signal })) times.push(clock.elapsed())
    })()
    await clock.advance(149)
    expect(times).toEqual([50, 100])
    await clock.advance(1)
    await reading
    expect(times).toEqual([50, 100, 150, 150])
  })

  it('A scripted model stops its wait at an abort and leaves no timer', async () => {
    const clock = fakeClock()
    const controller = new AbortController()
    const reading = read(
      scriptedModel(['one two'], { clock, delayMs: 50 }),
      REQUEST,
      controller,
    ).catch((error: unknown) => error)
    await clock.advance(20)
    controller.abort()
    expect(await reading).toMatchObject({ name: 'AbortError' })
    expect(clock.elapsed()).toBe(20)
    expect(clock.pending).toBe(0)
  })
})
