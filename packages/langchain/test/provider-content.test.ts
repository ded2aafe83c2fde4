/** [LC-M5] Tests that provider content of a reply is returned and sent back unchanged. */
import { describe, expect, test } from 'vitest'

import { ask, modelAt, PROVIDERS, REQUEST } from './providers.ts'

import type { Answer, Provider } from './providers.ts'
import type { ProviderStub, StubReply } from '../src/testing/index.ts'
import type { ChatModel, ModelRequest } from '@tutti/ensemble/adapter'
import type { AssistantMessage } from '@tutti/ensemble/internal'

const TOOL = {
  name: 'look_up',
  description: 'Looks up',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
}

const CALL = { id: 'call-a', name: 'look_up', arguments: { word: 'käse' } }

const THOUGHT = { reasoning: 'Let me think 🧀 first.', text: 'I look.', toolCalls: [CALL] }

const FIRST: ModelRequest = { ...REQUEST, tools: [TOOL] }

function findProvider(name: string, model?: string): Provider {
  const provider = PROVIDERS.find((each) => each.name === name)
  if (provider === undefined) throw new Error(`no provider ${name}`)
  return { ...provider, model: model ?? provider.model }
}

const ANTHROPIC = findProvider('anthropic')
const RESPONSES = findProvider('openai', 'openai:gpt-5.6')

function thinking(stub: ProviderStub): ChatModel {
  const modelOptions = { thinking: { type: 'enabled', budget_tokens: 1_024 } }
  return modelAt(ANTHROPIC, stub, { maxTokens: 4_000, modelOptions })
}

/** Creates the request after the tool calls of `answer`; the reply is serialized to JSON and back, as in a store. */
function afterTools({ reply }: Answer, change: Partial<AssistantMessage> = {}): ModelRequest {
  const { text: content, toolCalls, providerContent } = reply
  const message = { role: 'assistant', content, toolCalls, providerContent, ...change } as const
  const results = message.toolCalls.map(({ id, name }) => {
    return { role: 'tool', toolCallId: id, toolName: name, content: 'all' } as const
  })
  const stored: unknown = JSON.parse(JSON.stringify(message))
  // NOTE: it was an assistant message before serialization.
  return { ...FIRST, messages: [...FIRST.messages, stored as AssistantMessage, ...results] }
}

/** Returns the assistant message in the request at `index`. */
async function readAssistantMessage(stub: ProviderStub, index: number): Promise<unknown> {
  const { messages } = (await stub.request(index)).body
  const list: readonly unknown[] = Array.isArray(messages) ? messages : []
  return list.find((message) => JSON.stringify(message).includes('"role":"assistant"'))
}

describe('thinking of Anthropic', () => {
  test('[LC-M5] Thinking of Anthropic is sent back with its signature before the tool call', async () => {
    await using stub = await ANTHROPIC.stub([THOUGHT, 'Cheese.'])
    const model = thinking(stub)
    const answer = await ask(model, FIRST)
    expect(answer.reply.text).toBe('I look.')
    expect(answer.reply.providerContent?.provider).toBe('anthropic')
    const { reply } = await ask(model, afterTools(answer))
    expect(await readAssistantMessage(stub, 1)).toEqual({
      role: 'assistant',
      content: [
        {
          type: 'thinking',
          thinking: 'Let me think 🧀 first.',
          signature: Buffer.from('signed:Let me think 🧀 first.').toString('base64'),
        },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'call-a', name: 'look_up', input: { word: 'käse' } },
      ],
    })
    expect(reply).toMatchObject({ text: 'Cheese.' })
    expect(reply).not.toHaveProperty('providerContent')
  })

  test('[LC-M5] Thinking of Anthropic is sent back in its place when redacted', async () => {
    const redacted: StubReply = { ...THOUGHT, text: '', redactedReasoning: 'c2VjcmV0' }
    await using stub = await ANTHROPIC.stub([redacted, 'Cheese.'])
    const model = thinking(stub)
    await ask(model, afterTools(await ask(model, FIRST)))
    expect(await readAssistantMessage(stub, 1)).toMatchObject({
      content: [
        { type: 'thinking' },
        { type: 'redacted_thinking', data: 'c2VjcmV0' },
        { type: 'tool_use' },
      ],
    })
  })

  test('[LC-P2] Thinking of Anthropic is not sent to another provider', async () => {
    await using stub = await ANTHROPIC.stub([THOUGHT])
    const openai = findProvider('openai')
    await using other = await openai.stub(['Cheese.'])
    const answer = await ask(thinking(stub), FIRST)
    await ask(modelAt(openai, other), afterTools(answer))
    const sent = JSON.stringify((await other.request(0)).body)
    expect(sent).not.toContain('think')
    expect(sent).toContain('I look.')
  })

  test('[LC-P3] Thinking of Anthropic is sent before the changed parts of a message', async () => {
    await using stub = await ANTHROPIC.stub([THOUGHT, 'Cheese.', 'Cheese.'])
    const model = thinking(stub)
    const answer = await ask(model, FIRST)
    const toolCalls = [{ id: 'call-z', name: 'look_up', arguments: '{}' }]
    await ask(model, afterTools(answer, { content: 'Other.', toolCalls }))
    await ask(model, afterTools(answer, { content: '' }))
    expect(await readAssistantMessage(stub, 1)).toMatchObject({
      content: [
        { type: 'thinking' },
        { type: 'text', text: 'Other.' },
        { type: 'tool_use', id: 'call-z', input: {} },
      ],
    })
    expect(await readAssistantMessage(stub, 2)).toMatchObject({
      content: [{ type: 'thinking' }, { type: 'tool_use', id: 'call-a' }],
    })
  })

  test('[LC-M5] Thinking of Anthropic is required by the service', async () => {
    await using stub = await ANTHROPIC.stub([THOUGHT])
    const model = thinking(stub)
    const { reply } = await ask(model, FIRST)
    const { providerContent: _omitted, ...rest } = reply
    await expect(ask(model, afterTools({ texts: [], reasoning: [], reply: rest }))).rejects.toThrow(
      /Expected `thinking`/,
    )
  })
})

describe("reasoning of OpenAI's Responses API", () => {
  test("Reasoning of OpenAI's Responses API is requested with the options of the model", async () => {
    await using stub = await RESPONSES.stub([THOUGHT])
    const reasoning = { effort: 'low', summary: 'auto' }
    const answer = await ask(modelAt(RESPONSES, stub, { modelOptions: { reasoning } }), FIRST)
    expect((await stub.request(0)).body['reasoning']).toEqual(reasoning)
    expect(answer.reasoning.join('')).toBe(THOUGHT.reasoning)
  })

  test("[LC-M5] Reasoning of OpenAI's Responses API is sent back as the received items", async () => {
    await using stub = await RESPONSES.stub([THOUGHT, 'Cheese.'])
    const model = modelAt(RESPONSES, stub)
    const answer = await ask(model, FIRST)
    expect(answer.texts.join('')).toBe('I look.')
    await ask(model, afterTools(answer))
    const { input } = (await stub.request(1)).body
    expect(input).toMatchObject([
      {},
      {},
      { type: 'reasoning', id: 'rs_1', summary: [{ text: 'Let me think 🧀 first.' }] },
      { type: 'message', id: 'msg_1' },
      { type: 'function_call', id: 'fc_1r_0', call_id: 'call-a', arguments: '{"word":"käse"}' },
      { type: 'function_call_output', call_id: 'call-a', output: 'all' },
    ])
  })

  test.each([
    ['the text', { content: 'Other.' }],
    ['a call', { toolCalls: [{ id: 'call-z', name: 'look_up', arguments: '{}' }] }],
  ])(
    "[LC-P3] Reasoning of OpenAI's Responses API is not sent back when %s was changed",
    async (_title, change) => {
      await using stub = await RESPONSES.stub([THOUGHT, 'Cheese.'])
      const model = modelAt(RESPONSES, stub)
      await ask(model, afterTools(await ask(model, FIRST), change))
      expect(JSON.stringify((await stub.request(1)).body)).not.toMatch(/rs_1|fc_1r|msg_1/)
    },
  )
})

test.each([ANTHROPIC, RESPONSES, findProvider('openai')])(
  '[LC-P1] A reply of $model without reasoning has no provider content',
  async (provider) => {
    await using stub = await provider.stub([{ text: 'I look.', toolCalls: [CALL] }])
    const { reply } = await ask(modelAt(provider, stub), FIRST)
    expect(reply).not.toHaveProperty('providerContent')
  },
)

test.each([undefined, null, 'text', 7, {}, { kind: 'other' }])(
  '[LC-P2] The model ignores the unknown provider content %o',
  async (content) => {
    await using stub = await ANTHROPIC.stub([{ toolCalls: [CALL] }, 'Cheese.'])
    const model = modelAt(ANTHROPIC, stub)
    const answer = await ask(model, FIRST)
    const providerContent = { provider: 'anthropic', content }
    await ask(model, afterTools(answer, { providerContent }))
    expect(await readAssistantMessage(stub, 1)).toMatchObject({ content: [{ type: 'tool_use' }] })
  },
)
