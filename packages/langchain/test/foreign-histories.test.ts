/** Tests that histories and tools from one provider, or from outside, fit the provider that gets them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { defineTool, Type, type AgentTool } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { mcpTools } from '@tutti/remote-tools'
import { describe, expect, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { anthropicStub, geminiStub, openaiStub, type StubRequest } from '../src/testing/index.ts'
import { ask, KEY } from './providers.ts'

import type { ChatModel, Message } from '@tutti/ensemble/adapter'
import type { ProviderStub } from '../src/testing/index.ts'

const log = defineTool({
  name: 'log',
  description: 'Logs a text',
  input: Type.Object({ text: Type.String() }),
  execute: () => 'logged',
})

function modelAt(name: string, { baseUrl }: ProviderStub): ChatModel {
  return langchainModel(name, { apiKey: KEY, baseUrl })
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => Object(inner)[key], value)
}

describe('ids of tool calls', () => {
  test('Ids of tool calls of one provider fit the fallback model of another one', async () => {
    await using first = await openaiStub([
      { toolCalls: [{ name: 'log', arguments: { text: 'x' }, id: 'functions.log:0' }] },
      { status: 400, message: 'no' },
    ])
    await using second = await anthropicStub(['final'])
    const calls: string[] = []
    const result = await ensemble({
      name: 'e',
      model: modelAt('openai:gpt-4.1', first),
      fallbackModels: [modelAt('anthropic:claude-sonnet-4-5', second)],
      tasks: [task({ description: 'go', tools: [log] })],
    }).run(
      {},
      {
        onEvent(event) {
          if (event.type === 'tool_called') calls.push(event.toolName)
        },
      },
    )
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'final' })
    expect(calls).toEqual(['log'])
    const messages = at(second.requests[0]?.body, 'messages')
    const id = at(messages, 1, 'content', 0, 'id')
    expect(id).toMatch(/^functions_log_0_[a-zA-Z0-9]{6}$/)
    expect(at(messages, 2, 'content', 0, 'tool_use_id')).toBe(id)
  })

  test('Ids of tool calls that the engine numbered fit, and are the same in every request', async () => {
    const toolCalls = [0, 1].map(() => ({ name: 'log', arguments: { text: 'x' }, id: 'toolu_1' }))
    await using stub = await anthropicStub([{ toolCalls }, { toolCalls }, 'done'])
    const result = await ensemble({
      name: 'e',
      model: modelAt('anthropic:claude-sonnet-4-5', stub),
      tasks: [task({ description: 'go', tools: [log] })],
    }).run({})
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done' })
    const [, second, third] = stub.requests.map(({ body }) => at(body, 'messages'))
    expect(at(third, 1)).toEqual(at(second, 1))
    expect(at(third, 2)).toEqual(at(second, 2))
  })

  test.each([
    ['mistral', /^[a-zA-Z0-9]{9}$/],
    ['groq', /^functions\.log:0$/],
  ])('Ids of tool calls have the form of %s', async (service, form) => {
    const { ChatOpenAI } = await import('@langchain/openai')
    await using stub = await openaiStub(
      [{ toolCalls: [{ name: 'log', arguments: { text: 'x' }, id: 'functions.log:0' }] }, 'done'],
      { service },
    )
    const model = langchainModel(
      new ChatOpenAI({ model: 'm', apiKey: KEY, configuration: { baseURL: stub.baseUrl } }),
      { provider: service, name: 'm' },
    )
    const tasks = [task({ description: 'go', tools: [log] })]
    const result = await ensemble({ name: 'e', model, tasks }).run({})
    expect(result.status).toBe('COMPLETED')
    const messages = at(stub.requests[1]?.body, 'messages')
    const list: readonly unknown[] = Array.isArray(messages) ? messages : []
    const called = list.find((message) => at(message, 'tool_calls') !== undefined)
    expect(at(called, 'tool_calls', 0, 'id')).toMatch(form)
    expect(at(list.at(-1), 'tool_call_id')).toBe(at(called, 'tool_calls', 0, 'id'))
  })

  test('Ids of tool calls of signed thinking are the same in its blocks and in the results', async () => {
    const thought = { reasoning: 'Let me think.', text: 'I log.' }
    const toolCalls = [{ name: 'log', arguments: { text: 'x' }, id: 'functions.log:0' }]
    await using stub = await anthropicStub([{ ...thought, toolCalls }, 'done'])
    const model = langchainModel('anthropic:claude-sonnet-4-5', {
      apiKey: KEY,
      baseUrl: stub.baseUrl,
      maxTokens: 4_000,
      modelOptions: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    })
    const tasks = [task({ description: 'go', tools: [log] })]
    expect(await ensemble({ name: 'e', model, tasks }).run({})).toMatchObject({ output: 'done' })
    const content = at(stub.requests[1]?.body, 'messages', 1, 'content')
    const kinds = Array.isArray(content) ? content.map((block) => at(block, 'type')) : []
    expect(kinds).toEqual(['thinking', 'text', 'tool_use'])
  })
})

describe('messages without content', () => {
  test.each([
    ['OpenAI', openaiStub, 'openai:gpt-4.1', 5],
    ['Anthropic', anthropicStub, 'anthropic:claude-sonnet-4-5', 3],
    ['Gemini', geminiStub, 'google-genai:gemini-2.5-flash', 3],
  ])('Messages without content in a conversation fit %s', async (_, stub, name, count) => {
    await using service = await stub(['Still here'])
    const history = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: '' },
      { role: 'user', content: '' },
      { role: 'assistant', content: '' },
    ] as const
    const result = await ensemble({
      name: 'e',
      model: modelAt(name, service),
      tasks: [task({ description: 'go', instructions: '' })],
    }).run({}, { history })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Still here' })
    const { body } = await service.request(0)
    expect(at(at(body, 'messages') ?? at(body, 'contents'), 'length')).toBe(count)
  })

  test('Messages without content between corrections of an answer fit Anthropic', async () => {
    await using stub = await anthropicStub([' \n', '{"a":1}'])
    const output = Type.Object({ a: Type.Integer() })
    const model = langchainModel('anthropic:claude-sonnet-4-5', {
      apiKey: KEY,
      baseUrl: stub.baseUrl,
      structuredOutput: false,
    })
    const tasks = [task({ description: 'go', output })]
    const result = await ensemble({ name: 'e', model, tasks }).run({})
    expect(result.status).toBe('COMPLETED')
    expect(stub.requests).toHaveLength(2)
  })
})

describe('lone surrogates', () => {
  const broken = defineTool({
    name: 't',
    description: 'Returns half a character',
    input: { type: 'object', properties: {} },
    execute: () => 'a\ud800b',
  })

  test.each([
    ['OpenAI', openaiStub, 'openai:gpt-4.1'],
    ['Anthropic', anthropicStub, 'anthropic:claude-sonnet-4-5'],
    ['Gemini', geminiStub, 'google-genai:gemini-2.5-flash'],
  ])(
    'Lone surrogates of a result and of the input of a run do not reach %s',
    async (_, stub, name) => {
      await using service = await stub([
        { toolCalls: [{ name: 't', arguments: {}, id: 'c1' }] },
        'done',
      ])
      const results: string[] = []
      const result = await ensemble({
        name: 'e',
        model: modelAt(name, service),
        tasks: [task({ description: 'go {where}', tools: [broken] })],
      }).run(
        { where: 'up \udc00' },
        {
          onEvent(event) {
            if (event.type === 'tool_called') results.push(event.toolResult ?? '')
          },
        },
      )
      expect(result).toMatchObject({ status: 'COMPLETED', output: 'done' })
      expect(results).toHaveLength(1)
      const sent = JSON.stringify(service.requests.at(-1)?.body)
      expect(sent).toContain('a\ufffdb')
      expect(sent).toContain('up \ufffd')
      expect(sent).not.toMatch(/\\u[dD][89a-fA-F]/)
    },
  )
})

describe('names of properties', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      'filter[name]': { type: 'string', description: 'Name of the app' },
      $top: { type: 'integer' },
      ['long_'.repeat(14)]: { type: 'object', properties: { '@type': { type: 'string' } } },
    },
    required: ['filter[name]'],
  }
  const INPUT = { 'filter[name]': 'x', $top: 5, ['long_'.repeat(14)]: { '@type': 'T' } }

  /** Answers with a call whose arguments have the names of the request, then with a text. */
  function callByRequest({ body }: StubRequest, call: number) {
    if (call > 1) return 'done'
    const schema = at(body, 'tools', 0, 'input_schema')
    const [filter = '', top = '', long = ''] = Object.keys(Object(at(schema, 'properties')))
    const [type = ''] = Object.keys(Object(at(schema, 'properties', long, 'properties')))
    const input = { [filter]: 'x', [top]: 5, [long]: { [type]: 'T' } }
    return { toolCalls: [{ name: String(at(body, 'tools', 0, 'name')), arguments: input }] }
  }

  async function runWith(tools: readonly AgentTool[]) {
    await using stub = await anthropicStub(callByRequest)
    const inputs: unknown[] = []
    const result = await ensemble({
      name: 'e',
      model: modelAt('anthropic:claude-sonnet-4-5', stub),
      tasks: [task({ description: 'go', tools: [...tools] })],
    }).run(
      {},
      {
        onEvent(event) {
          if (event.type === 'tool_called') inputs.push(event.toolArguments)
        },
      },
    )
    return { result, inputs, requests: stub.requests.map(({ body }) => body) }
  }

  function expectAccepted({ result, inputs, requests }: Awaited<ReturnType<typeof runWith>>): void {
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(inputs.map((input) => (typeof input === 'string' ? JSON.parse(input) : input))).toEqual([
      INPUT,
    ])
    const properties = Object(at(requests[0], 'tools', 0, 'input_schema', 'properties'))
    const names = Object.keys(properties)
    expect(names.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))).toEqual([])
    expect(names[0]).toMatch(/^filter_name_/)
    expect(at(requests[0], 'tools', 0, 'input_schema', 'required')).toEqual([names[0]])
    // The model sees its own names again in its call.
    const call = at(requests[1], 'messages', 1, 'content', 0, 'input')
    expect(Object.keys(Object(call))).toEqual(names)
  }

  test('Names of properties of an own tool are mapped for Anthropic and back', async () => {
    const received: unknown[] = []
    const tool = defineTool({
      name: 'list_apps',
      description: 'Lists apps',
      input: inputSchema,
      execute(input) {
        received.push(input)
        return 'none'
      },
    })
    expectAccepted(await runWith([tool]))
    expect(received).toEqual([INPUT])
  })

  test('Names of properties of the tool of an MCP server are mapped for Anthropic and back', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tutti-mcp-'))
    const path = join(directory, 'server.mjs')
    writeFileSync(
      path,
      `import { createInterface } from 'node:readline'
const tools = [{ name: 'list_apps', inputSchema: ${JSON.stringify(inputSchema)} }]
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const reply = (result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
  if (method === 'initialize') reply({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } })
  if (method === 'tools/list') reply({ tools })
  if (method === 'tools/call') reply({ content: [{ type: 'text', text: JSON.stringify(params.arguments) }] })
})`,
    )
    try {
      await using server = await mcpTools({ command: process.execPath, args: [path] })
      expect(server.skipped).toEqual([])
      const ran = await runWith(server.tools)
      expectAccepted(ran)
      const result = at(ran.requests[1], 'messages', 2, 'content', 0, 'content')
      expect(JSON.parse(String(result))).toEqual(INPUT)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test('Names of properties are sent unchanged to a provider that accepts them', async () => {
    const tool = { name: 'list_apps', description: 'Lists apps', inputSchema }
    await using stub = await openaiStub(['done'])
    const messages: readonly Message[] = [{ role: 'user', content: 'go' }]
    await ask(modelAt('openai:gpt-4.1', stub), { messages, tools: [tool], toolChoice: 'auto' })
    expect(at(stub.requests[0]?.body, 'tools', 0, 'function', 'parameters')).toEqual(inputSchema)
  })

  test('Names of properties are mapped for Claude behind a gateway with the API of OpenAI', async () => {
    const tool = { name: 'list_apps', description: 'Lists apps', inputSchema }
    await using stub = await openaiStub(['done'])
    const messages: readonly Message[] = [{ role: 'user', content: 'go' }]
    const model = modelAt('openai:anthropic/claude-sonnet-4.5', stub)
    await ask(model, { messages, tools: [tool], toolChoice: 'auto' })
    const parameters = at(
      stub.requests[0]?.body,
      'tools',
      0,
      'function',
      'parameters',
      'properties',
    )
    expect(Object.keys(Object(parameters))[0]).toMatch(/^filter_name_/)
  })
})

test('The results of several calls are one turn for Gemini', async () => {
  const toolCalls = ['a', 'b', 'c'].map((text) => ({ name: 'log', arguments: { text } }))
  await using stub = await geminiStub([{ toolCalls }, { toolCalls }, 'done'])
  const result = await ensemble({
    name: 'e',
    model: modelAt('google-genai:gemini-2.5-flash', stub),
    tasks: [task({ description: 'go', tools: [log] })],
  }).run({})
  expect(result).toMatchObject({ status: 'COMPLETED', output: 'done' })
  const contents = at(stub.requests[2]?.body, 'contents')
  const lengths = Array.isArray(contents) ? contents.map((each) => at(each, 'parts', 'length')) : []
  expect(lengths).toEqual([1, 3, 3, 3, 3])
})

describe('names of tools', () => {
  test('Names of tools that Gemini refuses are mapped and mapped back', async () => {
    await using stub = await geminiStub(({ body }, call) => {
      const name = String(at(body, 'tools', 0, 'functionDeclarations', 0, 'name'))
      return call > 1 ? 'done' : { toolCalls: [{ name, arguments: { text: 'x' } }] }
    })
    const tools = [{ ...log, name: '-9log' }]
    const names: string[] = []
    const result = await ensemble({
      name: 'e',
      model: modelAt('google-genai:gemini-2.5-flash', stub),
      tasks: [task({ description: 'go', tools })],
    }).run(
      {},
      {
        onEvent(event) {
          if (event.type === 'tool_called') names.push(event.toolName)
        },
      },
    )
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(names).toEqual(['-9log'])
  })
})
