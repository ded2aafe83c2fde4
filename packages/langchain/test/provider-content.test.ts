/** [M5] What a provider wants to see again of its reply comes out with it, and goes back unchanged. */
import { describe, expect, test } from 'vitest'

import { ask, modelAt, PROVIDERS, REQUEST } from './providers.ts'

import type { Answer, Provider } from './providers.ts'
import type { ProviderStub, StubReply } from '../src/testing/index.ts'
import type { AssistantMessage, ChatModel, ModelRequest } from '@tutti/ensemble'

const TOOL = {
  name: 'look_up',
  description: 'Looks up',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
}

const CALL = { id: 'call-a', name: 'look_up', arguments: { word: 'käse' } }

const THOUGHT = { reasoning: 'Let me think 🧀 first.', text: 'I look.', toolCalls: [CALL] }

const FIRST: ModelRequest = { ...REQUEST, tools: [TOOL] }

function at(name: string, model?: string): Provider {
  const provider = PROVIDERS.find((each) => each.name === name)
  if (provider === undefined) throw new Error(`no provider ${name}`)
  return { ...provider, model: model ?? provider.model }
}

const ANTHROPIC = at('anthropic')
const RESPONSES = at('openai', 'openai:gpt-5.6')

function thinking(stub: ProviderStub): ChatModel {
  const modelOptions = { thinking: { type: 'enabled', budget_tokens: 1_024 } }
  return modelAt(ANTHROPIC, stub, { maxTokens: 4_000, modelOptions })
}

/** The request after the tools of `answer` were called; all has been through JSON, as in a store. */
function afterTools({ reply }: Answer, change: Partial<AssistantMessage> = {}): ModelRequest {
  const { text: content, toolCalls, providerContent } = reply
  const said = { role: 'assistant', content, toolCalls, providerContent, ...change } as const
  const results = said.toolCalls.map(({ id, name }) => {
    return { role: 'tool', toolCallId: id, toolName: name, content: 'all' } as const
  })
  const stored: unknown = JSON.parse(JSON.stringify(said))
  // NOTE: it was an assistant message before it was text.
  return { ...FIRST, messages: [...FIRST.messages, stored as AssistantMessage, ...results] }
}

/** The assistant's blocks in the request of this index. */
async function blocksSent(stub: ProviderStub, index: number): Promise<unknown> {
  const { messages } = (await stub.request(index)).body
  const list: readonly unknown[] = Array.isArray(messages) ? messages : []
  return list.find((message) => JSON.stringify(message).includes('"role":"assistant"'))
}

describe('thinking of Anthropic', () => {
  test('[M5] goes back with its signature before the call, and the answer is told whole', async () => {
    await using stub = await ANTHROPIC.stub([THOUGHT, 'Cheese.'])
    const model = thinking(stub)
    const answer = await ask(model, FIRST)
    expect(answer.reply.text).toBe('I look.')
    expect(answer.reply.providerContent?.provider).toBe('anthropic')
    const { reply } = await ask(model, afterTools(answer))
    expect(await blocksSent(stub, 1)).toEqual({
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

  test('[M5] that is redacted goes back in its place', async () => {
    const redacted: StubReply = { ...THOUGHT, text: '', redactedReasoning: 'c2VjcmV0' }
    await using stub = await ANTHROPIC.stub([redacted, 'Cheese.'])
    const model = thinking(stub)
    await ask(model, afterTools(await ask(model, FIRST)))
    expect(await blocksSent(stub, 1)).toMatchObject({
      content: [
        { type: 'thinking' },
        { type: 'redacted_thinking', data: 'c2VjcmV0' },
        { type: 'tool_use' },
      ],
    })
  })

  test('[P2] goes to no other provider', async () => {
    await using stub = await ANTHROPIC.stub([THOUGHT])
    const openai = at('openai')
    await using other = await openai.stub(['Cheese.'])
    const answer = await ask(thinking(stub), FIRST)
    await ask(modelAt(openai, other), afterTools(answer))
    const sent = JSON.stringify((await other.request(0)).body)
    expect(sent).not.toContain('think')
    expect(sent).toContain('I look.')
  })

  test('[P3] stays in front of what the message has become', async () => {
    await using stub = await ANTHROPIC.stub([THOUGHT, 'Cheese.', 'Cheese.'])
    const model = thinking(stub)
    const answer = await ask(model, FIRST)
    const toolCalls = [{ id: 'call-z', name: 'look_up', arguments: '{}' }]
    await ask(model, afterTools(answer, { content: 'Other.', toolCalls }))
    await ask(model, afterTools(answer, { content: '' }))
    expect(await blocksSent(stub, 1)).toMatchObject({
      content: [
        { type: 'thinking' },
        { type: 'text', text: 'Other.' },
        { type: 'tool_use', id: 'call-z', input: {} },
      ],
    })
    expect(await blocksSent(stub, 2)).toMatchObject({
      content: [{ type: 'thinking' }, { type: 'tool_use', id: 'call-a' }],
    })
  })

  test('[M5] without it the service refuses to go on', async () => {
    await using stub = await ANTHROPIC.stub([THOUGHT])
    const model = thinking(stub)
    const { reply } = await ask(model, FIRST)
    const { providerContent: _forgotten, ...rest } = reply
    await expect(ask(model, afterTools({ texts: [], reply: rest }))).rejects.toThrow(
      /Expected `thinking`/,
    )
  })
})

describe("reasoning of OpenAI's Responses API", () => {
  test('[M5] goes back as the items that came', async () => {
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
  ])('[P3] none of the items go back when %s was changed', async (_what, change) => {
    await using stub = await RESPONSES.stub([THOUGHT, 'Cheese.'])
    const model = modelAt(RESPONSES, stub)
    await ask(model, afterTools(await ask(model, FIRST), change))
    expect(JSON.stringify((await stub.request(1)).body)).not.toMatch(/rs_1|fc_1r|msg_1/)
  })
})

test.each([ANTHROPIC, RESPONSES, at('openai')])(
  '[P1] a reply of $model that did not think has no such content',
  async (provider) => {
    await using stub = await provider.stub([{ text: 'I look.', toolCalls: [CALL] }])
    const { reply } = await ask(modelAt(provider, stub), FIRST)
    expect(reply).not.toHaveProperty('providerContent')
  },
)

test.each([undefined, null, 'text', 7, {}, { kind: 'other' }])(
  '[P2] content %o that is not ours is left out',
  async (content) => {
    await using stub = await ANTHROPIC.stub([{ toolCalls: [CALL] }, 'Cheese.'])
    const model = modelAt(ANTHROPIC, stub)
    const answer = await ask(model, FIRST)
    const providerContent = { provider: 'anthropic', content }
    await ask(model, afterTools(answer, { providerContent }))
    expect(await blocksSent(stub, 1)).toMatchObject({ content: [{ type: 'tool_use' }] })
  },
)
