/**
 * The cases that every adapter of the model port must pass. The test of an adapter creates models with
 * scripted answers and runs each case; a case throws if the adapter breaks the contract.
 */
import type { ScriptedReply } from './scripted-model.ts'
import type { ChatModel, ModelReply, ModelRequest, ModelUsage } from '@tutti/ensemble/adapter'

/** Creates a model whose next answers are `script`. */
export type ChatModelSetup = (script: readonly (ScriptedReply | Error)[]) => Promise<ChatModel>

/** A case; its name states the rule. */
export interface ChatModelCase {
  readonly name: string
  run(setup: ChatModelSetup): Promise<void>
}

const REQUEST: ModelRequest = {
  messages: [
    { role: 'system', content: 'You are Tester.' },
    { role: 'user', content: 'Say something.' },
  ],
  tools: [],
  toolChoice: 'auto',
}

const WITH_TOOL: ModelRequest = {
  ...REQUEST,
  tools: [
    {
      name: 'look_up',
      description: 'Looks a word up',
      inputSchema: {
        type: 'object',
        properties: { word: { type: 'string' } },
        required: ['word'],
      },
    },
  ],
}

/** Cases of the model port. */
export const chatModelCases: readonly ChatModelCase[] = [
  {
    name: 'A model concatenates its text chunks to the text of the reply, which comes last and once',
    async run(setup) {
      const model = await setup([{ text: 'All together now, in time.' }])
      const { chunks, reply } = await read(model, REQUEST)
      equal(reply.text, 'All together now, in time.')
      equal(chunks.join(''), reply.text)
      assert(chunks.length > 1, `expected more than one text chunk, got ${chunks.length}`)
      equal(reply.toolCalls, [])
    },
  },
  {
    name: 'A model reports the usage that the provider returned',
    async run(setup) {
      const usage = { inputTokens: 21, outputTokens: 7 }
      const model = await setup([{ text: 'Hello there', usage }])
      equalUsage((await read(model, REQUEST)).reply, usage)
    },
  },
  {
    name: 'A model returns the ids, names and arguments of tool calls, in order',
    async run(setup) {
      const toolCalls = [
        { id: 'call-a', name: 'look_up', arguments: { word: 'tutti' } },
        { id: 'call-b', name: 'look_up', arguments: { word: 'käse "x"\n' } },
      ]
      const model = await setup([{ toolCalls }])
      const { reply } = await read(model, WITH_TOOL)
      equal(
        reply.toolCalls.map((call) => ({ ...call, arguments: parse(call.arguments) })),
        toolCalls,
      )
    },
  },
  {
    name: 'A model returns text and tool calls of the same reply',
    async run(setup) {
      const toolCalls = [{ id: 'call-a', name: 'look_up', arguments: { word: 'tutti' } }]
      const model = await setup([{ text: 'Let me look.', toolCalls }])
      const { reply } = await read(model, WITH_TOOL)
      equal(reply.text, 'Let me look.')
      equal(reply.toolCalls.length, 1)
    },
  },
  {
    name: 'A model has the finish reason stop for a complete answer and tool_calls for tool calls',
    async run(setup) {
      const toolCalls = [{ id: 'call-a', name: 'look_up', arguments: { word: 'tutti' } }]
      const model = await setup([{ text: 'All.' }, { toolCalls }])
      equal((await read(model, WITH_TOOL)).reply.finishReason, 'stop')
      equal((await read(model, WITH_TOOL)).reply.finishReason, 'tool_calls')
    },
  },
  {
    name: 'A model has the finish reason length and the text of an answer that is cut at the output limit',
    async run(setup) {
      const model = await setup([{ text: 'All together', finishReason: 'length' }])
      const { reply } = await read(model, REQUEST)
      equal([reply.finishReason, reply.text], ['length', 'All together'])
    },
  },
  {
    name: 'A model has the finish reason content_filter for a blocked answer',
    async run(setup) {
      const model = await setup([{ text: '', finishReason: 'content_filter' }])
      equal((await read(model, REQUEST)).reply.finishReason, 'content_filter')
    },
  },
  {
    name: 'A model has the finish reason refusal, and the refusal is not part of the text',
    async run(setup) {
      const refusal = 'I cannot help with that.'
      const model = await setup([{ text: '', finishReason: 'refusal', refusal }])
      const { chunks, reply } = await read(model, REQUEST)
      equal([reply.finishReason, reply.refusal, reply.text], ['refusal', refusal, ''])
      equal(chunks, [])
    },
  },
  {
    name: 'A model streams its reasoning, which is not part of the text',
    async run(setup) {
      const given = 'The user wants a word. I say one.'
      const model = await setup([{ reasoning: given, text: 'All together.' }])
      const { chunks, reasoning, reply } = await read(model, REQUEST)
      equal(reasoning.join(''), given)
      assert(reasoning.length > 1, `expected more than one piece, got ${reasoning.length}`)
      equal([chunks.join(''), reply.text], ['All together.', 'All together.'])
    },
  },
  {
    name: 'A model streams reasoning before tool calls',
    async run(setup) {
      const toolCalls = [{ id: 'call-a', name: 'look_up', arguments: { word: 'tutti' } }]
      const model = await setup([{ reasoning: 'I look it up.', toolCalls }])
      const { reasoning, reply } = await read(model, WITH_TOOL)
      equal([reasoning.join(''), reply.text, reply.toolCalls.length], ['I look it up.', '', 1])
    },
  },
  {
    name: 'A model that shows no reasoning streams no reasoning',
    async run(setup) {
      const { reasoning, reply } = await read(await setup([{ text: 'All.' }]), REQUEST)
      equal([reasoning, 'reasoningTokens' in (reply.usage ?? {})], [[], false])
    },
  },
  {
    name: 'A model reports the reasoning tokens that the provider returned as a part of the output tokens',
    async run(setup) {
      const usage = { inputTokens: 21, outputTokens: 17, reasoningTokens: 12 }
      const model = await setup([{ reasoning: 'Well.', text: 'Hello there', usage }])
      equalUsage((await read(model, REQUEST)).reply, usage)
    },
  },
  {
    name: 'A model continues a conversation with tool results',
    async run(setup) {
      const model = await setup([{ text: 'It means all.' }])
      const { reply } = await read(model, {
        ...WITH_TOOL,
        messages: [
          ...REQUEST.messages,
          {
            role: 'assistant',
            content: '',
            toolCalls: [{ id: 'call-a', name: 'look_up', arguments: '{"word":"tutti"}' }],
          },
          { role: 'tool', toolCallId: 'call-a', toolName: 'look_up', content: 'all' },
        ],
      })
      equal(reply.text, 'It means all.')
    },
  },
  {
    name: 'A model throws when a call fails',
    async run(setup) {
      const model = await setup([new Error('overloaded')])
      await rejects(read(model, REQUEST))
    },
  },
  {
    name: 'A model throws when the signal aborts',
    async run(setup) {
      const model = await setup([{ text: 'one two three four five six' }])
      const controller = new AbortController()
      const reading = async (): Promise<void> => {
        for await (const _chunk of model.stream(REQUEST, { signal: controller.signal })) {
          controller.abort()
        }
      }
      await rejects(reading())
    },
  },
]

interface ReadCall {
  readonly chunks: readonly string[]
  readonly reasoning: readonly string[]
  readonly reply: ModelReply
}

async function read(model: ChatModel, request: ModelRequest): Promise<ReadCall> {
  const chunks: string[] = []
  const reasoning: string[] = []
  const replies: ModelReply[] = []
  const { signal } = new AbortController()
  for await (const chunk of model.stream(request, { signal })) {
    assert(replies.length === 0, 'a chunk came after the reply')
    if (chunk.type === 'reply') replies.push(chunk.reply)
    else if (chunk.type === 'text') chunks.push(chunk.text)
    else reasoning.push(chunk.text)
  }
  const [reply] = replies
  if (reply === undefined) throw new Error('the stream ended without a reply')
  return { chunks, reasoning, reply }
}

function parse(text: string): unknown {
  return JSON.parse(text)
}

function assert(condition: boolean, message: string): void {
  if (!condition) throw new Error(message)
}

function equal(actual: unknown, expected: unknown): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  assert(got === wanted, `expected ${wanted}, got ${got}`)
}

/** Asserts the usage of a reply. Its total is optional. */
function equalUsage({ usage }: ModelReply, expected: ModelUsage): void {
  const { totalTokens, ...counts } = usage ?? {}
  equal(counts, expected)
  if (totalTokens !== undefined) equal(totalTokens, expected.inputTokens + expected.outputTokens)
}

async function rejects(promise: Promise<unknown>): Promise<void> {
  const outcome = await promise.then(
    () => 'resolved',
    () => 'rejected',
  )
  equal(outcome, 'rejected')
}
