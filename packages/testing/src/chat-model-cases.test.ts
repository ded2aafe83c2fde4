import { describe, expect, it } from 'vitest'

import { chatModelCases, type ChatModelSetup } from './chat-model-cases.ts'
import { scriptedModel } from './scripted-model.ts'

import type { ChatModel, ModelChunk, ModelReply } from '@tutti/ensemble/adapter'

const sound: ChatModelSetup = (script) => Promise.resolve(scriptedModel(script))

describe('the scripted model', () => {
  it.each(chatModelCases)('$name', async ({ run }) => {
    await run(sound)
  })
})

/** Faults in a model, each with the start of the case name that must detect it. */
const FAULTS: readonly (readonly [fault: string, detectedBy: string, model: Fault])[] = [
  ['sends no text before the reply', 'concatenates its text chunks', onChunks(keep('reply'))],
  [
    'sends its text in a single chunk',
    'concatenates its text chunks',
    onChunks((chunks) => chunks.flatMap((chunk) => (chunk.type === 'reply' ? whole(chunk) : []))),
  ],
  ['loses a chunk', 'concatenates its text chunks', onChunks((chunks) => chunks.slice(1))],
  [
    'sends the reply first',
    'concatenates its text chunks',
    onChunks((chunks) => chunks.toReversed()),
  ],
  [
    'sends the reply twice',
    'concatenates its text chunks',
    onChunks((chunks) => [...chunks, ...keep('reply')(chunks)]),
  ],
  ['sends no reply', 'concatenates its text chunks', onChunks(keep('text'))],
  [
    'drops reasoning',
    'streams its reasoning',
    onChunks((chunks) => chunks.filter(({ type }) => type !== 'reasoning')),
  ],
  [
    'streams reasoning as text',
    'streams its reasoning',
    onChunks((chunks) =>
      chunks.map((chunk) => (chunk.type === 'reasoning' ? { ...chunk, type: 'text' } : chunk)),
    ),
  ],
  [
    'drops the reasoning before tool calls',
    'streams reasoning before tool calls',
    onChunks((chunks) =>
      chunks.some((chunk) => chunk.type === 'reply' && chunk.reply.toolCalls.length > 0)
        ? keep('reply')(chunks)
        : chunks,
    ),
  ],
  [
    'invents reasoning',
    'streams no reasoning',
    onChunks((chunks) => [{ type: 'reasoning', text: 'Hm.' }, ...chunks]),
  ],
  [
    'adds reasoning tokens to the output',
    'reports the reasoning tokens',
    onReply(({ usage = { inputTokens: 0, outputTokens: 0 }, ...reply }) => {
      const outputTokens = usage.outputTokens + (usage.reasoningTokens ?? 0)
      return { ...reply, usage: { ...usage, outputTokens } }
    }),
  ],
  ['reports no usage', 'reports the usage', onReply(({ usage: _usage, ...reply }) => reply)],
  [
    'counts tokens itself',
    'reports the usage',
    onReply((reply) => ({ ...reply, usage: { inputTokens: 1, outputTokens: 1 } })),
  ],
  [
    'replaces the ids',
    'returns the ids, names and arguments of tool calls',
    onReply((reply) => ({
      ...reply,
      toolCalls: reply.toolCalls.map((call, index) => ({ ...call, id: `own-${index}` })),
    })),
  ],
  [
    'reverses the calls',
    'returns the ids, names and arguments of tool calls',
    onReply((reply) => ({ ...reply, toolCalls: reply.toolCalls.toReversed() })),
  ],
  [
    'serializes arguments twice',
    'returns the ids, names and arguments of tool calls',
    onReply((reply) => ({
      ...reply,
      toolCalls: reply.toolCalls.map((call) => ({
        ...call,
        arguments: JSON.stringify(call.arguments),
      })),
    })),
  ],
  [
    'drops the text of tool calls',
    'returns text and tool calls',
    onReply((reply) => (reply.toolCalls.length > 0 ? { ...reply, text: '' } : reply)),
  ],
  [
    'drops the calls of a reply with text',
    'returns text and tool calls',
    onReply((reply) => (reply.text === '' ? reply : { ...reply, toolCalls: [] })),
  ],
  [
    'reports no finish reason',
    'the finish reason stop',
    onReply(({ finishReason: _finishReason, ...reply }) => reply),
  ],
  [
    'reports a cut answer as complete',
    'the finish reason length',
    onReply((reply) => ({ ...reply, finishReason: 'stop' })),
  ],
  [
    'reports a blocked answer as complete',
    'the finish reason content_filter',
    onReply((reply) => ({ ...reply, finishReason: 'stop' })),
  ],
  [
    'loses the text of a refusal',
    'the finish reason refusal',
    onReply(({ refusal: _refusal, ...reply }) => reply),
  ],
  [
    'rejects tool results',
    'continues a conversation',
    (model) => ({
      ...model,
      stream(request, options) {
        if (request.messages.some(({ role }) => role === 'tool')) throw new Error('400')
        return model.stream(request, options)
      },
    }),
  ],
  [
    'returns an empty reply for a failed call',
    'throws when a call fails',
    (model) => ({
      ...model,
      async *stream(request, options) {
        try {
          yield* model.stream(request, options)
        } catch (error) {
          if (options.signal.aborted) throw error
          yield { type: 'reply', reply: { text: '', toolCalls: [] } }
        }
      },
    }),
  ],
  [
    'ignores the signal',
    'throws when the signal aborts',
    (model) => ({
      ...model,
      stream: (request) => model.stream(request, new AbortController()),
    }),
  ],
]

describe('the cases detect a model that', () => {
  it.each(FAULTS)('The cases detect a model that %s', async (_fault, detectedBy, breakModel) => {
    const setup: ChatModelSetup = async (script) => breakModel(await sound(script))
    const detected: string[] = []
    for (const { name, run } of chatModelCases) {
      await run(setup).catch(() => detected.push(name))
    }
    expect(detected).toContainEqual(expect.stringContaining(detectedBy))
  })
})

it('Every case detects at least one fault', () => {
  const silent = chatModelCases.filter(
    ({ name }) => !FAULTS.some(([, detectedBy]) => name.includes(detectedBy)),
  )
  expect(silent).toEqual([])
})

type Fault = (model: ChatModel) => ChatModel

/** Returns a fault that changes the chunks of a model. */
function onChunks(change: (chunks: readonly ModelChunk[]) => readonly ModelChunk[]): Fault {
  return (model) => ({
    ...model,
    async *stream(request, options) {
      const chunks: ModelChunk[] = []
      for await (const chunk of model.stream(request, options)) chunks.push(chunk)
      yield* change(chunks)
    },
  })
}

/** Returns a fault that changes the reply of a model. */
function onReply(change: (reply: ModelReply) => ModelReply): Fault {
  return onChunks((chunks) =>
    chunks.map((chunk) =>
      chunk.type === 'reply' ? { type: 'reply', reply: change(chunk.reply) } : chunk,
    ),
  )
}

function keep(type: ModelChunk['type']): (chunks: readonly ModelChunk[]) => readonly ModelChunk[] {
  return (chunks) => chunks.filter((chunk) => chunk.type === type)
}

function whole(last: Extract<ModelChunk, { type: 'reply' }>): readonly ModelChunk[] {
  return [{ type: 'text', text: last.reply.text }, last]
}
