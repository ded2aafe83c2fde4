/** Tests of OpenAI's APIs with the settings that other clients send: the AI SDK, LangChain, and `@openai/agents`. */
import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { generateText, isStepCount, jsonSchema, Output, streamText, tool as aiTool } from 'ai'
import { modelCatalog } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { caller, chatEnsembles, echo, openChatServer, THOUGHT } from './chat-ensembles.ts'
import { openServer, type TestServer } from './open-server.ts'

let api: TestServer

beforeAll(async () => {
  const reply = { text: '{"city":"Bonn"}' }
  api = await openChatServer({
    'gpt-5.1': caller,
    json: scriptedModel(() => reply, { provider: 'scripted' }),
    handover: scriptedModel(
      ({ tools }) => ({ toolCalls: tools.map(({ name }) => ({ name, arguments: {} })) }),
      { provider: 'scripted' },
    ),
  })
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

/** JSON Schema of answers of the model `json`. */
const CITY = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city' as const],
  additionalProperties: false as const,
}

/** Returns the number of runs of an ensemble. */
const countRuns = async (name: string) => (await api.runs.list({ ensemble: name, limit: 1 })).total

/** Name of the ensemble whose limits apply to models, and whose runs those of models are. */
const OF_MODELS = 'singer'

describe.each(['responses', 'chat'] as const)('the provider of the AI SDK over %s', (kind) => {
  const openModel = (name: string) =>
    createOpenAI({ baseURL: `${api.url}/v1`, apiKey: 'none' })[kind](name)

  it('[GW-K12][GW-N4] The provider of the AI SDK has the same text in a stream and without one', async () => {
    const asked = { model: openModel('duo'), prompt: 'Ode' }
    const { textStream } = streamText(asked)
    const chunks: string[] = []
    for await (const chunk of textStream) chunks.push(chunk)
    const { text } = await generateText(asked)
    expect(chunks.join('')).toBe(text)
    expect(text).toContain('It was played')
  })

  it('The provider of the AI SDK streams the answer of an ensemble, with its usage', async () => {
    const { textStream, usage } = streamText({ model: openModel('singer'), prompt: 'Ode' })
    const chunks: string[] = []
    for await (const chunk of textStream) chunks.push(chunk)
    expect(chunks.join('')).toBe('La la la, here comes Ode, la la la')
    expect((await usage).totalTokens).toEqual(expect.any(Number))
  })

  it('The provider of the AI SDK executes the tools that a run calls, and continues the run', async () => {
    const weather = aiTool({
      description: 'Returns the weather',
      inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
      execute: () => 'Sunny',
    })
    const before = await countRuns(OF_MODELS)
    const { text, steps, responseMessages } = await generateText({
      model: openModel('caller'),
      instructions: 'Be brief',
      prompt: 'How is it?',
      tools: { weather },
      stopWhen: isStepCount(3),
    })
    expect([text, steps.length]).toEqual(['Sunny', 2])
    expect(await countRuns(OF_MODELS)).toBe(before + 1)
    const next = await generateText({
      model: openModel('echo'),
      messages: [
        { role: 'user', content: 'How is it?' },
        ...responseMessages,
        { role: 'user', content: 'And now?' },
      ],
    })
    expect(next.text).toBe('5: And now?')
  })

  it('The provider of the AI SDK parses structured output', async () => {
    const schema = jsonSchema<{ city: string }>(CITY)
    const { output } = await generateText({
      model: openModel('json'),
      prompt: 'Where?',
      output: Output.object({ schema }),
    })
    expect(output).toEqual({ city: 'Bonn' })
  })

  it('The provider of the AI SDK continues a conversation of several messages', async () => {
    const { text } = await generateText({
      model: openModel('echo'),
      instructions: 'Be brief',
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Uno' },
        { role: 'user', content: 'Two' },
      ],
    })
    expect(text).toBe('4: Two')
  })
})

/** Cancels the run of an ensemble that waits for a review. */
async function cancelWaiting(): Promise<void> {
  const find = async () => (await api.runs.reviews.open())[0]?.runId
  await expect.poll(find).toBeDefined()
  await api.runs.send((await find()) ?? '', { kind: 'cancel' })
}

/** A call with the default retries of its client. */
const CALLS: Readonly<Record<string, (model: string) => Promise<unknown>>> = {
  'the provider of the AI SDK, chat completions': (model) =>
    generateText({ model: openProvider().chat(model), prompt: 'Ode' }),
  'the provider of the AI SDK, responses': (model) =>
    generateText({ model: openProvider()(model), prompt: 'Ode' }),
  'ChatOpenAI, chat completions': (model) => openLangChain(model, false).invoke('Ode'),
  'ChatOpenAI, responses': (model) => openLangChain(model, true).invoke('Ode'),
}

const openProvider = () => createOpenAI({ baseURL: `${api.url}/v1`, apiKey: 'none' })

const openLangChain = (model: string, useResponsesApi: boolean) =>
  new ChatOpenAI({
    model,
    useResponsesApi,
    apiKey: 'none',
    configuration: { baseURL: `${api.url}/v1` },
  })

describe.each(Object.entries(CALLS))(
  '[GW-K11] a run that ends without an answer: %s',
  (_, call) => {
    it.each(['broken', 'spender', 'choir'])('The failed run of %s is begun once', async (name) => {
      const before = await countRuns(name)
      const called = call(name).catch(() => undefined)
      if (name === 'choir') await cancelWaiting()
      await called
      expect(await countRuns(name)).toBe(before + 1)
    })
  },
)

it('[GW-N6] A failed response is an error of the AI SDK with its reason', async () => {
  const failed = generateText({ model: openProvider()('broken'), prompt: 'Ode' })
  await expect(failed).rejects.toThrow('The piano is out of tune')
})

it('[GW-K1][GW-N7] A model of shared.ignoreSampling ignores the parameters of sampling', async () => {
  const models = modelCatalog({ echo, quiet: echo })
  const shared = { ignoreSampling: ['quiet', 'singer'] }
  const options = { ensembles: chatEnsembles(), models, limits: { models }, shared }
  await using lenient = await openServer(options)
  for (const kind of ['chat', 'responses'] as const) {
    const provider = createOpenAI({ baseURL: `${lenient.url}/v1`, apiKey: 'none' })
    const ask = (name: string) => {
      const settings = { temperature: 0.1, topP: 0.5, maxRetries: 0 }
      return generateText({ model: provider[kind](name), prompt: 'Ode', ...settings })
    }
    expect((await ask('quiet')).text).toBe('1: Ode')
    await expect(ask('echo')).rejects.toThrow('/temperature must be 1')
    const model = provider[kind]('singer')
    const { text } = await generateText({ model, prompt: 'Ode', maxOutputTokens: 5 })
    expect(text).toBe('La la la, here comes Ode, la la la')
  }
  const unknown = { ensembles: chatEnsembles(), shared: { ignoreSampling: ['quite'] } }
  await expect(openServer(unknown)).rejects.toThrow('ignoreSampling names "quite"')
})

describe.each([
  ['chat completions', false],
  ['responses', true],
])('ChatOpenAI of LangChain over %s', (_, useResponsesApi) => {
  const openModel = (model: string) =>
    new ChatOpenAI({
      model,
      useResponsesApi,
      apiKey: 'none',
      maxRetries: 0,
      configuration: { baseURL: `${api.url}/v1` },
    })

  it('ChatOpenAI of LangChain gets the answer of an ensemble', async () => {
    const { text, usage_metadata: usage } = await openModel('singer').invoke('Ode')
    expect(text).toBe('La la la, here comes Ode, la la la')
    expect(usage).toMatchObject({ total_tokens: expect.any(Number) })
  })

  it.skipIf(useResponsesApi)(
    '[GW-K10] ChatOpenAI of LangChain shows the reasoning of a model',
    async () => {
      let shown = ''
      for await (const { additional_kwargs: more } of await openModel('muse').stream('Ode')) {
        if (typeof more['reasoning_content'] === 'string') shown += more['reasoning_content']
      }
      expect(shown).toBe('I need the weather.')
    },
  )

  it('ChatOpenAI of LangChain streams the answer of a model', async () => {
    const chunks: string[] = []
    for await (const { text } of await openModel('echo').stream('Ode')) chunks.push(text)
    expect(chunks.join('')).toContain('Ode')
  })

  it('ChatOpenAI of LangChain executes the tools that a run calls, and continues the run', async () => {
    const model = openModel('caller').bindTools([
      {
        type: 'function',
        function: {
          name: 'weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    ])
    const before = await countRuns(OF_MODELS)
    const asked = await model.invoke('How is it?')
    expect(asked.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Bonn' } }])
    const [call] = asked.tool_calls ?? []
    const result = { role: 'tool', tool_call_id: call?.id ?? '', content: 'Sunny' }
    const answered = await model.invoke([{ role: 'user', content: 'How is it?' }, asked, result])
    expect(answered.text).toBe('Sunny')
    expect(await countRuns(OF_MODELS)).toBe(before + 1)
  })

  it('ChatOpenAI of LangChain parses structured output', async () => {
    const model = openModel('json').withStructuredOutput(CITY, { method: 'jsonSchema' })
    expect(await model.invoke('Where?')).toEqual({ city: 'Bonn' })
  })

  it('ChatOpenAI of LangChain continues a conversation of several messages', async () => {
    const { text } = await openModel('echo').invoke([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Uno' },
      { role: 'user', content: 'Two' },
    ])
    expect(text).toBe('4: Two')
  })
})

describe.each([
  ['responses', {}],
  ['chat completions', { useResponses: false }],
])('an agent of @openai/agents over %s', (_, options) => {
  const openRunner = () => {
    setTracingDisabled(true)
    const address = { baseURL: `${api.url}/v1`, apiKey: 'none' }
    return new Runner({ modelProvider: new OpenAIProvider({ ...address, ...options }) })
  }

  // For the second name, the library sends settings of reasoning and verbosity by default.
  it.each([
    ['caller', 'Sunny'],
    ['gpt-5.1', 'Sunny'],
    ['muse', THOUGHT.text],
  ])(
    'An agent of @openai/agents calls its tools and answers with the model %s',
    async (model, answer) => {
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
      const agent = new Agent({ name: 'Guide', instructions: 'Be brief', model, tools: [weather] })
      const before = await countRuns(OF_MODELS)
      const { finalOutput } = await openRunner().run(agent, 'How is it?')
      expect(finalOutput).toBe(answer)
      expect(await countRuns(OF_MODELS)).toBe(before + 1)
    },
  )

  it('[GW-G5] An agent of @openai/agents has other instructions at each turn', async () => {
    let turns = 0
    const weather = tool({
      name: 'weather',
      description: 'Returns the weather',
      parameters: CITY,
      strict: true,
      execute: () => 'Sunny',
    })
    const agent = new Agent({
      name: 'Guide',
      instructions: () => `Turn ${(turns += 1)}`,
      model: 'caller',
      tools: [weather],
    })
    const { finalOutput } = await openRunner().run(agent, 'How is it?')
    expect([finalOutput, turns]).toEqual(['Sunny', 2])
  })

  it('[GW-G5] An agent of @openai/agents hands off to an agent with another model', async () => {
    const second = new Agent({ name: 'Echo', model: 'echo' })
    const first = Agent.create({ name: 'Guide', model: 'handover', handoffs: [second] })
    const { finalOutput, lastAgent } = await openRunner().run(first, 'How is it?')
    expect(lastAgent?.name).toBe('Echo')
    expect(finalOutput).toBe('3: How is it?')
  })

  it('An agent of @openai/agents streams the answer of an ensemble, with its usage', async () => {
    const agent = new Agent({ name: 'Singer', model: 'singer' })
    const result = await openRunner().run(agent, 'Ode', { stream: true })
    const chunks: string[] = []
    for await (const chunk of result.toTextStream()) chunks.push(chunk)
    expect(chunks.join('')).toBe('La la la, here comes Ode, la la la')
    expect(result.state.usage.totalTokens).toBeGreaterThan(0)
  })

  it('An agent of @openai/agents parses structured output', async () => {
    const outputType = { type: 'json_schema', name: 'place', strict: true, schema: CITY } as const
    const agent = new Agent({ name: 'Guide', model: 'json', outputType })
    const { finalOutput } = await openRunner().run(agent, 'Where?')
    expect(finalOutput).toEqual({ city: 'Bonn' })
  })

  it('An agent of @openai/agents continues a conversation of several messages', async () => {
    const agent = new Agent({ name: 'Echo', model: 'echo' })
    const runner = openRunner()
    const { history } = await runner.run(agent, 'One')
    const { finalOutput } = await runner.run(agent, [...history, { role: 'user', content: 'Two' }])
    expect(finalOutput).toBe('3: Two')
  })
})

it('An agent of @openai/agents continues a thread by its conversation', async () => {
  setTracingDisabled(true)
  const modelProvider = new OpenAIProvider({ baseURL: `${api.url}/v1`, apiKey: 'none' })
  const runner = new Runner({ modelProvider })
  const { thread } = await api.runs.threads.create({ tags: {} })
  const agent = new Agent({ name: 'Echo', model: 'echo' })
  const conversationId = `conv_${thread.threadId}`
  await runner.run(agent, 'One', { conversationId })
  const { finalOutput } = await runner.run(agent, 'Two', { conversationId })
  expect(finalOutput).toBe('3: Two')
  expect((await api.runs.threads.get(thread.threadId))?.runCount).toBe(2)
})
