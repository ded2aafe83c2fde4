/** Tests the finish reasons of each provider, through the model port and through a whole task. */
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOpenAI } from '@langchain/openai'
import { defineTool, Type } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { agent, ensemble, task } from '@tutti/ensemble'
import { describe, expect, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { anthropicStub, geminiStub, openaiStub } from '../src/testing/index.ts'
import { ask, catchFailure, KEY, REQUEST } from './providers.ts'

import type { ProviderStub, StubRequest, StubScript } from '../src/testing/index.ts'
import type { ChatModel, ModelRequest } from '@tutti/ensemble/adapter'

interface Wire {
  readonly name: string
  readonly model: string
  readonly stub: (script: StubScript) => Promise<ProviderStub>
  /** Suffix to remove from the base URL of the stub. */
  readonly suffix?: string
  readonly reasons: { readonly length: string; readonly filter: string }
  readonly hasRefusals: boolean
  /** Whether the arguments of a call can be cut off: Gemini sends only complete calls. */
  readonly cutsCalls: boolean
  readonly limit: (request: StubRequest) => unknown
}

const CHAT = { length: 'length', filter: 'content_filter' }

const WIRES: readonly Wire[] = [
  {
    name: 'OpenAI chat completions',
    model: 'openai:gpt-4o-mini',
    stub: openaiStub,
    reasons: CHAT,
    hasRefusals: true,
    cutsCalls: true,
    limit: ({ body }) => body['max_tokens'],
  },
  {
    name: 'OpenAI Responses',
    model: 'openai:gpt-5.6',
    stub: openaiStub,
    reasons: { length: 'max_output_tokens', filter: 'content_filter' },
    hasRefusals: true,
    cutsCalls: true,
    limit: ({ body }) => body['max_output_tokens'],
  },
  {
    name: 'Anthropic',
    model: 'anthropic:claude-sonnet-4-5',
    stub: anthropicStub,
    reasons: { length: 'max_tokens', filter: 'content_filtered' },
    hasRefusals: true,
    cutsCalls: true,
    limit: ({ body }) => body['max_tokens'],
  },
  {
    name: 'Gemini',
    model: 'google-genai:gemini-2.5-flash',
    stub: geminiStub,
    reasons: { length: 'MAX_TOKENS', filter: 'SAFETY' },
    hasRefusals: false,
    cutsCalls: false,
    limit: ({ body }) =>
      new Map(Object.entries({ ...Object(body['generationConfig']) })).get('maxOutputTokens'),
  },
  {
    name: 'Groq',
    model: 'groq:llama-3.3-70b-versatile',
    stub: openaiStub,
    suffix: '/v1',
    reasons: CHAT,
    hasRefusals: false,
    cutsCalls: true,
    limit: ({ body }) => body['max_completion_tokens'],
  },
  {
    name: 'an OpenAI-compatible server',
    model: 'openai:llama3.2',
    stub: openaiStub,
    reasons: CHAT,
    hasRefusals: true,
    cutsCalls: true,
    limit: ({ body }) => body['max_tokens'],
  },
]

const WITH_TOOL: ModelRequest = {
  ...REQUEST,
  tools: [
    {
      name: 'search',
      description: 'Searches',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
    },
  ],
}

function modelAt({ model, suffix = '' }: Wire, { baseUrl }: ProviderStub): ChatModel {
  const address = baseUrl.endsWith(suffix)
    ? baseUrl.slice(0, baseUrl.length - suffix.length)
    : baseUrl
  return langchainModel(model, { apiKey: KEY, baseUrl: address, timeoutMs: 0 })
}

describe.each(WIRES)('$name', (wire) => {
  test('A provider reports stop for a complete answer', async () => {
    await using stub = await wire.stub(['All together now'])
    const { reply } = await ask(modelAt(wire, stub))
    expect(reply).toMatchObject({ text: 'All together now', finishReason: 'stop' })
  })

  test('A provider reports tool_calls for an answer with tool calls', async () => {
    await using stub = await wire.stub([
      { toolCalls: [{ name: 'search', arguments: { query: 'jazz' } }] },
    ])
    const { reply } = await ask(modelAt(wire, stub), WITH_TOOL)
    expect(reply).toMatchObject({ finishReason: 'tool_calls', toolCalls: [{ name: 'search' }] })
  })

  test('A provider reports length for a truncated answer, with its text and the reason of the provider', async () => {
    await using stub = await wire.stub([{ text: 'All together', finishReason: 'length' }])
    const { reply } = await ask(modelAt(wire, stub))
    expect(reply).toMatchObject({
      text: 'All together',
      finishReason: 'length',
      providerFinishReason: wire.reasons.length,
    })
  })

  test.runIf(wire.cutsCalls)('A provider reports length for a truncated tool call', async () => {
    await using stub = await wire.stub([
      { toolCalls: [{ name: 'search', arguments: '{"query": "ja' }], finishReason: 'length' },
    ])
    const { reply } = await ask(modelAt(wire, stub), WITH_TOOL)
    expect(reply).toMatchObject({
      finishReason: 'length',
      toolCalls: [{ name: 'search', arguments: '{"query": "ja' }],
    })
  })

  test('A provider reports content_filter for a blocked answer, even without text', async () => {
    await using stub = await wire.stub([
      { finishReason: 'content_filter' },
      { text: 'Once upon', finishReason: 'content_filter' },
    ])
    const model = modelAt(wire, stub)
    const blocked = { finishReason: 'content_filter', providerFinishReason: wire.reasons.filter }
    expect((await ask(model)).reply).toMatchObject({ text: '', ...blocked })
    expect((await ask(model)).reply).toMatchObject({ text: 'Once upon', ...blocked })
  })

  test.runIf(wire.hasRefusals)(
    'A provider reports refusal with the text of the refusal',
    async () => {
      const refusal = 'I cannot help with that.'
      await using stub = await wire.stub([{ finishReason: 'refusal', refusal }])
      const { reply } = await ask(modelAt(wire, stub))
      expect(reply).toMatchObject({ text: '', finishReason: 'refusal', refusal })
    },
  )

  test('A call fails as retryable when a stream ends without a finish reason', async () => {
    await using stub = await wire.stub([{ text: 'All together', ending: 'truncate' }])
    const error = await catchFailure(modelAt(wire, stub))
    expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable: true })
    expect(errorMessage(error)).toBe(`Cannot call ${wire.model}: the answer was cut off`)
  })

  test.runIf(wire.name !== 'Gemini')(
    'A call reports the message of an error that is sent with status 200, as JSON or as a page',
    async () => {
      const headers = { 'content-type': 'text/html; charset=utf-8' }
      const body = '<html><style>p{}</style><body><p>Please sign in</p></body></html>'
      await using stub = await wire.stub([
        { status: 200, body: '{"error":{"message":"No credits left","code":402}}' },
        { status: 200, headers, body },
      ])
      const model = modelAt(wire, stub)
      const spent = await catchFailure(model)
      expect(spent).toMatchObject({ code: 'MODEL_FAILED', retryable: false })
      expect(errorMessage(spent)).toBe(
        `Cannot call ${wire.model}: the answer with status 200 is not a stream of events: No credits left`,
      )
      const page = await catchFailure(model)
      expect(page).toMatchObject({ code: 'MODEL_FAILED', retryable: true })
      expect(errorMessage(page)).toContain('not a stream of events: Please sign in')
    },
  )

  test('A call sends a higher output limit for one call only', async () => {
    await using stub = await wire.stub(['one', 'two'])
    const model = modelAt(wire, stub)
    await ask(model, { ...WITH_TOOL, maxOutputTokens: 9_000 })
    await ask(model, WITH_TOOL)
    expect(wire.limit(await stub.request(0))).toBe(9_000)
    expect(wire.limit(await stub.request(1))).not.toBe(9_000)
  })

  test('A provider lets a task continue a truncated text, and repeat a truncated call without an error message to the model', async () => {
    const found: string[] = []
    const search = defineTool({
      name: 'search',
      description: 'Searches',
      input: Type.Object({ query: Type.String() }),
      execute({ query }) {
        found.push(query)
        return `found ${query}`
      },
    })
    await using stub = await wire.stub([
      {
        toolCalls: wire.cutsCalls ? [{ name: 'search', arguments: '{"query": "ja' }] : [],
        finishReason: 'length',
      },
      { toolCalls: [{ name: 'search', arguments: { query: 'jazz' } }] },
      { text: 'Jazz is', finishReason: 'length' },
      ' music.',
    ])
    const worker = agent({ role: 'Worker', goal: 'Work', tools: [search] })
    const work = task({ name: 'work', description: 'Say what jazz is', agent: worker })
    const result = await ensemble({ name: 'team', model: modelAt(wire, stub), tasks: [work] }).run()
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Jazz is music.' })
    expect(found).toEqual(['jazz'])
    expect(JSON.stringify(stub.requests.at(-1)?.body)).not.toContain('invalid_arguments')
    expect(stub.requests).toHaveLength(4)
  })
})

describe('a model that the application creates', () => {
  test('A model that the application creates reports refusals and accepts a higher limit for OpenAI', async () => {
    const refusal = 'I cannot help with that.'
    await using stub = await openaiStub([{ finishReason: 'refusal', refusal }, 'fine'])
    const chatModel = new ChatOpenAI({
      model: 'gpt-4o-mini',
      apiKey: KEY,
      configuration: { baseURL: stub.baseUrl },
    })
    const model = langchainModel(chatModel)
    expect((await ask(model, WITH_TOOL)).reply).toMatchObject({ finishReason: 'refusal', refusal })
    await ask(model, { ...WITH_TOOL, maxOutputTokens: 9_000 })
    expect((await stub.request(1)).body['max_tokens']).toBe(9_000)
  })

  test('A model that the application creates reports blocked answers, accepts a higher limit and reports a truncated stream for Gemini', async () => {
    await using stub = await geminiStub([
      { finishReason: 'content_filter' },
      'fine',
      { text: 'half', ending: 'truncate' },
    ])
    const model = langchainModel(
      new ChatGoogleGenerativeAI({ model: 'gemini-2.5-flash', apiKey: KEY, baseUrl: stub.baseUrl }),
    )
    expect((await ask(model)).reply.finishReason).toBe('content_filter')
    await ask(model, { ...REQUEST, maxOutputTokens: 9_000 })
    expect((await stub.request(1)).body).toMatchObject({
      generationConfig: { maxOutputTokens: 9_000 },
    })
    expect(await catchFailure(model)).toMatchObject({ code: 'MODEL_FAILED', retryable: true })
  })
})

describe('an error status of Gemini', () => {
  test('An error status of Gemini sets retryAfterMs from RetryInfo', async () => {
    await using stub = await geminiStub([
      { status: 429, message: 'Slow down', retryDelay: '34.1s' },
    ])
    const model = langchainModel('google-genai:gemini-2.5-flash', {
      apiKey: KEY,
      baseUrl: stub.baseUrl,
    })
    expect(await catchFailure(model)).toMatchObject({
      code: 'MODEL_FAILED',
      retryable: true,
      details: { status: 429, retryAfterMs: 34_100 },
    })
  })
})

test('A call fails with CONTENT_FILTERED when the Azure filter blocks the prompt', async () => {
  await using stub = await openaiStub([
    { status: 400, code: 'content_filter', message: 'The prompt was filtered' },
  ])
  const model = langchainModel('openai:gpt-4o-mini', { apiKey: KEY, baseUrl: stub.baseUrl })
  expect(await catchFailure(model)).toMatchObject({ code: 'CONTENT_FILTERED', retryable: false })
})
