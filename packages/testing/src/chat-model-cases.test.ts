import { describe, expect, it } from 'vitest'

import { chatModelCases, type ChatModelSetup } from './chat-model-cases.ts'
import { scriptedModel } from './scripted-model.ts'

import type { ChatModel, ModelChunk, ModelReply } from '@tutti/ensemble'

const sound: ChatModelSetup = (script) => Promise.resolve(scriptedModel(script))

describe('the scripted model keeps the contract of the model port', () => {
  it.each(chatModelCases)('$name', async ({ run }) => {
    await run(sound)
  })
})

/** Ways to break the contract, each with the words of the case that must notice. */
const FAULTS: readonly (readonly [fault: string, noticedBy: string, model: Fault])[] = [
  ['sends no text before the reply', 'concatenates its text chunks', onChunks(keep('reply'))],
  [
    'sends its text in one piece',
    'concatenates its text chunks',
    onChunks((chunks) => chunks.flatMap((chunk) => (chunk.type === 'reply' ? whole(chunk) : []))),
  ],
  ['loses a piece', 'concatenates its text chunks', onChunks((chunks) => chunks.slice(1))],
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
  ['gives no reply', 'concatenates its text chunks', onChunks(keep('text'))],
  ['gives no usage', 'reports the usage', onReply(({ usage: _usage, ...reply }) => reply)],
  [
    'counts tokens itself',
    'reports the usage',
    onReply((reply) => ({ ...reply, usage: { inputTokens: 1, outputTokens: 1 } })),
  ],
  [
    'makes ids of its own',
    'returns the ids, names and arguments of tool calls',
    onReply((reply) => ({
      ...reply,
      toolCalls: reply.toolCalls.map((call, index) => ({ ...call, id: `own-${index}` })),
    })),
  ],
  [
    'turns the calls round',
    'returns the ids, names and arguments of tool calls',
    onReply((reply) => ({ ...reply, toolCalls: reply.toolCalls.toReversed() })),
  ],
  [
    'writes arguments out twice',
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
    'drops the text beside tool calls',
    'returns text and tool calls',
    onReply((reply) => (reply.toolCalls.length > 0 ? { ...reply, text: '' } : reply)),
  ],
  [
    'drops the calls beside text',
    'returns text and tool calls',
    onReply((reply) => (reply.text === '' ? reply : { ...reply, toolCalls: [] })),
  ],
  [
    'gives no finish reason',
    'the finish reason stop',
    onReply(({ finishReason: _finishReason, ...reply }) => reply),
  ],
  [
    'takes a cut answer for a whole one',
    'the finish reason length',
    onReply((reply) => ({ ...reply, finishReason: 'stop' })),
  ],
  [
    'takes a blocked answer for a whole one',
    'the finish reason content_filter',
    onReply((reply) => ({ ...reply, finishReason: 'stop' })),
  ],
  [
    'loses the words of a refusal',
    'the finish reason refusal',
    onReply(({ refusal: _refusal, ...reply }) => reply),
  ],
  [
    'does not take tool results',
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
    'answers a failed call with nothing',
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

describe('the cases notice a model that', () => {
  it.each(FAULTS)('%s', async (_fault, noticedBy, breakModel) => {
    const setup: ChatModelSetup = async (script) => breakModel(await sound(script))
    const noticed: string[] = []
    for (const { name, run } of chatModelCases) {
      await run(setup).catch(() => noticed.push(name))
    }
    expect(noticed).toContainEqual(expect.stringContaining(noticedBy))
  })
})

it('every case notices something', () => {
  const silent = chatModelCases.filter(
    ({ name }) => !FAULTS.some(([, noticedBy]) => name.includes(noticedBy)),
  )
  expect(silent).toEqual([])
})

type Fault = (model: ChatModel) => ChatModel

/** A model whose chunks are changed before they are sent. */
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

/** A model whose reply is changed before it is sent. */
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
