/** Tests of OpenAI's APIs with clients other than that of `openai`: ChatOpenAI of LangChain, and `@openai/agents`. */
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openChatServer, THOUGHT } from './chat-ensembles.ts'

import type { TestServer } from './open-server.ts'

let api: TestServer

beforeAll(async () => {
  api = await openChatServer()
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

describe('ChatOpenAI of LangChain', () => {
  const openModel = (model: string) =>
    new ChatOpenAI({
      model,
      apiKey: 'none',
      maxRetries: 0,
      configuration: { baseURL: `${api.url}/v1` },
    })

  it('gets the answer of an ensemble', async () => {
    const { text, usage_metadata: usage } = await openModel('singer').invoke('Ode')
    expect(text).toBe('La la la, here comes Ode, la la la')
    expect(usage).toMatchObject({ total_tokens: expect.any(Number) })
  })

  it('[GW-K10] shows the reasoning of a model', async () => {
    let shown = ''
    for await (const { additional_kwargs: more } of await openModel('muse').stream('Ode')) {
      if (typeof more['reasoning_content'] === 'string') shown += more['reasoning_content']
    }
    expect(shown).toBe('I need the weather.')
  })

  it('streams the answer of a model', async () => {
    const chunks: string[] = []
    for await (const { text } of await openModel('echo').stream('Ode')) chunks.push(text)
    expect(chunks.join('')).toContain('Ode')
  })

  it('executes the tools that a run calls, and continues the run', async () => {
    const model = openModel('caller').bindTools([
      {
        type: 'function',
        function: {
          name: 'weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    ])
    const asked = await model.invoke('How is it?')
    expect(asked.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Bonn' } }])
    const [call] = asked.tool_calls ?? []
    const result = { role: 'tool', tool_call_id: call?.id ?? '', content: 'Sunny' }
    const answered = await model.invoke([{ role: 'user', content: 'How is it?' }, asked, result])
    expect(answered.text).toBe('Sunny')
  })
})

describe('an agent of @openai/agents', () => {
  it.each([
    ['responses', 'caller', 'Sunny', {}],
    ['chat completions', 'caller', 'Sunny', { useResponses: false }],
    ['responses, with reasoning', 'muse', THOUGHT.text, {}],
    ['chat completions, with reasoning', 'muse', THOUGHT.text, { useResponses: false }],
  ])('calls its tools and answers over %s', async (_, model, answer, options) => {
    setTracingDisabled(true)
    const modelProvider = new OpenAIProvider({
      baseURL: `${api.url}/v1`,
      apiKey: 'none',
      ...options,
    })
    const weather = tool({
      name: 'weather',
      description: 'Returns the weather',
      strict: false,
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: [],
        additionalProperties: true,
      },
      execute: () => 'Sunny',
    })
    const agent = new Agent({
      name: 'Guide',
      instructions: 'Be brief',
      model,
      tools: [weather],
    })
    const { finalOutput } = await new Runner({ modelProvider }).run(agent, 'How is it?')
    expect(finalOutput).toBe(answer)
  })
})
