/** Tests the requests to the providers, as recorded by their stubs. */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, test } from 'vitest'

import { ask, catchFailure, KEY, modelAt, PROVIDERS, REQUEST } from './providers.ts'

import type { StubRequest } from '../src/testing/index.ts'
import type { Message, ModelRequest, ToolSpecification } from '@tutti/ensemble/adapter'

const search = defineTool({
  name: 'search',
  description: 'Searches the library',
  input: Type.Object(
    {
      query: Type.String({ minLength: 1, description: 'What to look for' }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
      sort: Type.Union([Type.Literal('date'), Type.Literal('title')]),
      filters: Type.Array(Type.Object({ field: Type.String(), values: Type.Array(Type.String()) })),
      since: Type.Union([Type.String({ format: 'date' }), Type.Null()]),
      extra: Type.Record(Type.String(), Type.Number()),
    },
    { additionalProperties: false, $id: 'SearchInput', title: 'Search' },
  ),
  execute: () => 'nothing',
})

const TOOLS: readonly ToolSpecification[] = [search]

const WITH_TOOLS: ModelRequest = { ...REQUEST, tools: TOOLS }

const HISTORY: readonly Message[] = [
  { role: 'system', content: 'You are Tester.' },
  { role: 'user', content: 'Find two things.' },
  {
    role: 'assistant',
    content: 'I look.',
    toolCalls: [
      { id: 'call-a', name: 'search', arguments: '{"query":"käse 🧀"}' },
      { id: 'call-b', name: 'search', arguments: '' },
    ],
  },
  { role: 'tool', toolCallId: 'call-a', toolName: 'search', content: 'one' },
  { role: 'tool', toolCallId: 'call-b', toolName: 'search', content: 'Error: two' },
  {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'call-c', name: 'search', arguments: '{"query": cut' }],
  },
  { role: 'tool', toolCallId: 'call-c', toolName: 'search', content: 'Error: not JSON' },
  { role: 'user', content: 'Then answer.' },
]

function readTools({ body }: StubRequest): unknown[] {
  return Array.isArray(body['tools']) ? body['tools'] : []
}

describe.each(PROVIDERS)('$name', (provider) => {
  test('A request omits tool fields from a request without tools', async () => {
    await using stub = await provider.stub(['yes'])
    await ask(modelAt(provider, stub))
    const [request] = stub.requests
    expect(request?.body).not.toHaveProperty('tools')
    expect(request?.body).not.toHaveProperty('tool_choice')
    expect(request?.body['stream']).toBe(true)
  })

  test('A request sends the key in the header of the provider', async () => {
    await using stub = await provider.stub(['yes'])
    await ask(modelAt(provider, stub))
    const { headers } = await stub.request(0)
    if (provider.name === 'openai') expect(headers['authorization']).toBe(`Bearer ${KEY}`)
    else expect(headers['x-api-key']).toBe(KEY)
  })

  test('A request sends the temperature, the token limit and further options', async () => {
    await using stub = await provider.stub(['yes'])
    const model = modelAt(provider, stub, {
      temperature: 0.25,
      maxTokens: 77,
      modelOptions: { topP: 0.5 },
    })
    await ask(model)
    const { body } = await stub.request(0)
    expect(body).toMatchObject({ temperature: 0.25, max_tokens: 77, top_p: 0.5 })
  })

  test('A request sends the schema of a tool unchanged', async () => {
    await using stub = await provider.stub(['yes'])
    await ask(modelAt(provider, stub), WITH_TOOLS)
    const schema: unknown = JSON.parse(JSON.stringify(search.inputSchema))
    const { name, description } = search
    expect(readTools(await stub.request(0))).toStrictEqual([
      provider.name === 'openai'
        ? { type: 'function', function: { name, description, parameters: schema } }
        : { name, description, input_schema: schema },
    ])
  })

  test('A request omits tool choice auto, and sends none together with the tools', async () => {
    await using stub = await provider.stub(['yes', 'yes'])
    const model = modelAt(provider, stub)
    await ask(model, WITH_TOOLS)
    await ask(model, { ...WITH_TOOLS, messages: HISTORY, toolChoice: 'none' })
    const [auto, none] = [await stub.request(0), await stub.request(1)]
    expect(auto.body).not.toHaveProperty('tool_choice')
    expect(none.body['tool_choice']).toEqual(provider.name === 'openai' ? 'none' : { type: 'none' })
    expect(readTools(none)).toHaveLength(1)
  })

  test('The usage of a reply counts all input tokens and reports cached ones separately', async () => {
    const usage = { inputTokens: 100, outputTokens: 5, cachedInputTokens: 80 }
    await using stub = await provider.stub([{ text: 'yes', usage }])
    const { reply } = await ask(modelAt(provider, stub))
    expect(reply.usage).toMatchObject(usage)
  })

  test('A reply streams reasoning apart from the text', async () => {
    await using stub = await provider.stub([{ reasoning: 'Let me think.', text: 'It is so.' }])
    const { texts, reasoning, reply } = await ask(modelAt(provider, stub), WITH_TOOLS)
    expect(reasoning).toEqual(['Let', ' me', ' think.'])
    expect(texts.join('')).toBe('It is so.')
    expect(reply.text).toBe('It is so.')
  })

  test('A reply returns arguments that are not JSON as they were streamed', async () => {
    const cut = '{"query": "käse 🧀", "li'
    await using stub = await provider.stub([
      { toolCalls: [{ id: 'call-a', name: 'search', arguments: cut }] },
    ])
    const { reply } = await ask(modelAt(provider, stub), WITH_TOOLS)
    expect(reply.toolCalls).toEqual([{ id: 'call-a', name: 'search', arguments: cut }])
  })

  test('A reply returns valid arguments as the exact streamed text', async () => {
    const text = '{ "query" : "a\\u00e4",\n "limit": 12345678901234567890 }'
    await using stub = await provider.stub([{ toolCalls: [{ name: 'search', arguments: text }] }])
    const { reply } = await ask(modelAt(provider, stub), WITH_TOOLS)
    expect(reply.toolCalls.map((call) => call.arguments)).toEqual([text])
  })

  test('A reply returns missing arguments as an empty object', async () => {
    await using stub = await provider.stub([{ toolCalls: [{ name: 'search', arguments: '' }] }])
    const { reply } = await ask(modelAt(provider, stub), WITH_TOOLS)
    expect(reply.toolCalls.map((call) => call.arguments)).toEqual(['{}'])
  })

  test('A call fails with the error of the provider for a malformed conversation', async () => {
    await using stub = await provider.stub([])
    const messages: readonly Message[] = [
      ...REQUEST.messages,
      { role: 'tool', toolCallId: 'call-z', toolName: 'search', content: 'lost' },
    ]
    const error = await catchFailure(modelAt(provider, stub), { ...WITH_TOOLS, messages })
    expect(error).toMatchObject({
      code: 'MODEL_FAILED',
      retryable: false,
      details: { status: 400 },
    })
  })
})

describe('the message history', () => {
  test('The message history is converted to the messages of OpenAI', async () => {
    const [openai] = PROVIDERS
    if (openai === undefined) throw new Error('no provider')
    await using stub = await openai.stub(['yes'])
    await ask(modelAt(openai, stub), { ...WITH_TOOLS, messages: HISTORY })
    const call = (id: string, text: string): object => {
      return { id, type: 'function', function: { name: 'search', arguments: text } }
    }
    expect((await stub.request(0)).body['messages']).toStrictEqual([
      { role: 'system', content: 'You are Tester.' },
      { role: 'user', content: 'Find two things.' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [call('call-a', '{"query":"käse 🧀"}'), call('call-b', '{}')],
      },
      { role: 'tool', tool_call_id: 'call-a', content: 'one' },
      { role: 'tool', tool_call_id: 'call-b', content: 'Error: two' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [call('call-c', '{"invalid_arguments":"{\\"query\\": cut"}')],
      },
      { role: 'tool', tool_call_id: 'call-c', content: 'Error: not JSON' },
      { role: 'user', content: 'Then answer.' },
    ])
  })

  test('The message history is converted to the messages of Anthropic', async () => {
    const [, anthropic] = PROVIDERS
    if (anthropic === undefined) throw new Error('no provider')
    await using stub = await anthropic.stub(['yes'])
    await ask(modelAt(anthropic, stub), { ...WITH_TOOLS, messages: HISTORY })
    const { body } = await stub.request(0)
    const use = (id: string, input: object): object => {
      return { type: 'tool_use', id, name: 'search', input }
    }
    const result = (id: string, content: string): object => {
      return { type: 'tool_result', tool_use_id: id, content }
    }
    expect(body['system']).toBe('You are Tester.')
    expect(body['messages']).toStrictEqual([
      { role: 'user', content: 'Find two things.' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          use('call-a', { query: 'käse 🧀' }),
          use('call-b', {}),
        ],
      },
      { role: 'user', content: [result('call-a', 'one'), result('call-b', 'Error: two')] },
      { role: 'assistant', content: [use('call-c', { invalid_arguments: '{"query": cut' })] },
      { role: 'user', content: [result('call-c', 'Error: not JSON')] },
      { role: 'user', content: 'Then answer.' },
    ])
  })

  test('The message history has its system text as developer message for a reasoning model of OpenAI', async () => {
    const [openai] = PROVIDERS
    if (openai === undefined) throw new Error('no provider')
    await using stub = await openai.stub(['yes'])
    await ask(modelAt({ ...openai, model: 'openai:gpt-5-mini' }, stub, { maxTokens: 9 }))
    const { body } = await stub.request(0)
    expect(body).toMatchObject({ messages: [{ role: 'developer' }, { role: 'user' }] })
    expect(body).toMatchObject({
      max_completion_tokens: 9,
      stream_options: { include_usage: true },
    })
  })
})

describe.each(PROVIDERS)('a choice at the root of an input schema, for $name', (provider) => {
  const file = Type.Object({ kind: Type.Literal('file'), path: Type.String() })
  const page = Type.Object({ kind: Type.Literal('page'), url: Type.String() })

  test('A choice at the root of an input schema is sent as an object with the properties of all forms', async () => {
    await using stub = await provider.stub(['yes'])
    const inputSchema = Type.Union([file, page])
    const tools = [{ name: 'read', description: 'Reads', inputSchema }]
    await ask(modelAt(provider, stub), { ...REQUEST, tools })
    const sent = JSON.stringify(readTools(await stub.request(0)))
    expect(sent).toContain('"type":"object"')
    expect(sent).toContain('"required":["kind"]')
    expect(sent).toContain(
      'Give the properties of one of these forms: (kind, path) or (kind, url).',
    )
  })

  test('A choice at the root of an input schema causes an error with the name of the tool when a form is not an object', async () => {
    await using stub = await provider.stub([])
    const inputSchema = Type.Union([file, Type.String()])
    const tools = [{ name: 'either', description: 'One or the other', inputSchema }]
    const error = await catchFailure(modelAt(provider, stub), { ...REQUEST, tools })
    expect(error).toMatchObject({ code: 'TOOL_CONFIGURATION', retryable: false })
    expect(String(error)).toContain('tool "either"')
    expect(stub.requests).toHaveLength(0)
  })
})
