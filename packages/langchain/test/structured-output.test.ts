/** [LC-M6] Tests the requests for answers that must match a JSON Schema. */
import { Type } from '@tutti/core'
import { describe, expect, test } from 'vitest'

import { ask, modelAt, PROVIDERS, REQUEST } from './providers.ts'

import type { Provider } from './providers.ts'
import type { StubRequest } from '../src/testing/index.ts'
import type { ModelRequest } from '@tutti/ensemble/adapter'

const Brief = Type.Object(
  { title: Type.String(), pages: Type.Integer() },
  { additionalProperties: false },
)

const STRICT = {
  type: 'object',
  properties: { title: { type: 'string' }, pages: { type: 'integer' } },
  required: ['title', 'pages'],
  additionalProperties: false,
}

const OPEN = { type: 'object', additionalProperties: { type: 'number' } }

const TOOL = {
  name: 'look_up',
  description: 'Looks up',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
}

const ANSWER = '{"title":"Käse 🧀","pages":3}'

function requestFor(schema: object, more: Partial<ModelRequest> = {}): ModelRequest {
  return { ...REQUEST, ...more, output: { name: 'brief', schema } }
}

function findProvider(name: string, model?: string): Provider {
  const provider = PROVIDERS.find((each) => each.name === name)
  if (provider === undefined) throw new Error(`no provider ${name}`)
  return { ...provider, model: model ?? provider.model }
}

/** Field of each wire protocol that holds the form of the answer. */
const FORMS: readonly (readonly [string, Provider, (request: StubRequest) => unknown])[] = [
  ['openai', findProvider('openai'), ({ body }) => body['response_format']],
  ['openai by Responses', findProvider('openai', 'openai:gpt-5.6'), ({ body }) => body['text']],
  ['anthropic', findProvider('anthropic'), ({ body }) => body['output_config']],
]

const EXPECTED: Readonly<Record<string, (schema: object, strict: boolean) => object>> = {
  openai: (schema, strict) => ({
    type: 'json_schema',
    json_schema: { name: 'brief', schema, strict },
  }),
  'openai by Responses': (schema, strict) => ({
    format: { type: 'json_schema', name: 'brief', schema, strict },
  }),
  anthropic: (schema) => ({ format: { type: 'json_schema', schema } }),
}

describe.each(FORMS)('%s', (name, provider, readForm) => {
  test('[LC-M6] A request with structured output has the schema, and its answer streams', async () => {
    await using stub = await provider.stub([{ text: ANSWER }])
    const { texts, reply } = await ask(modelAt(provider, stub), requestFor(STRICT))
    expect(readForm(await stub.request(0))).toEqual(EXPECTED[name]?.(STRICT, true))
    expect(reply.text).toBe(ANSWER)
    expect(texts.join('')).toBe(ANSWER)
    expect(texts.length).toBeGreaterThan(1)
  })

  test('[LC-M6] A request with structured output sends tools unchanged in addition to the schema', async () => {
    const call = { id: 'call-a', name: 'look_up', arguments: { word: 'x' } }
    await using stub = await provider.stub([{ toolCalls: [call] }, 'x'])
    const model = modelAt(provider, stub)
    const { reply } = await ask(model, requestFor(STRICT, { tools: [TOOL] }))
    await ask(model, { ...REQUEST, tools: [TOOL] })
    const [request, plain] = [await stub.request(0), await stub.request(1)]
    expect(readForm(request)).toEqual(EXPECTED[name]?.(STRICT, true))
    expect(request.body['tools']).toEqual(plain.body['tools'])
    expect(reply.toolCalls).toMatchObject([{ id: 'call-a', arguments: '{"word":"x"}' }])
  })

  test('[LC-M6] A request has no schema without an output, or when structured output is disabled', async () => {
    await using stub = await provider.stub(['plain', 'plain'])
    await ask(modelAt(provider, stub))
    await ask(modelAt(provider, stub, { structuredOutput: false }), requestFor(STRICT))
    const [, disabled] = [await stub.request(0), await stub.request(1)]
    for (const request of stub.requests) {
      expect(JSON.stringify(readForm(request) ?? {})).not.toContain('json_schema')
    }
    expect(JSON.stringify(disabled.body)).not.toContain('pages')
  })

  test('[LC-O1] A request with structured output sends only the JSON of a schema object', async () => {
    await using stub = await provider.stub([{ text: ANSWER }, { text: ANSWER }])
    const model = modelAt(provider, stub)
    await ask(model, requestFor(Brief))
    await ask(model, requestFor({ ...STRICT, minProperties: undefined, [Symbol('mark')]: 1 }))
    for (const request of [await stub.request(0), await stub.request(1)]) {
      expect(readForm(request)).toEqual(EXPECTED[name]?.(STRICT, true))
    }
  })

  test('[LC-O3] A request describes a schema that is not an object at the end of the system text', async () => {
    await using stub = await provider.stub(['[]', '[]'])
    const model = modelAt(provider, stub)
    const list = { type: 'array', items: { type: 'string' } }
    await ask(model, requestFor(list))
    await ask(model, requestFor(list, { messages: [{ role: 'user', content: 'List.' }] }))
    const text = `Your final answer must be JSON alone, with no text around it, that matches this JSON Schema:\n${JSON.stringify(list)}`
    const [first, second] = [await stub.request(0), await stub.request(1)]
    expect(JSON.stringify(first.body)).toContain(
      JSON.stringify(`You are Tester.\n\n${text}`).slice(1, -1),
    )
    expect(JSON.stringify(second.body)).toContain(JSON.stringify(text).slice(1, -1))
    for (const request of stub.requests) {
      expect(JSON.stringify(readForm(request) ?? {})).not.toContain('json_schema')
    }
  })
})

describe('OpenAI', () => {
  test('[LC-O2] OpenAI gets a schema that it cannot enforce without strict', async () => {
    const openai = findProvider('openai')
    await using stub = await openai.stub(['{}', '{}'])
    const model = modelAt(openai, stub)
    const optional = { ...STRICT, required: ['title'] }
    await ask(model, requestFor(OPEN))
    await ask(model, requestFor(optional))
    const [map, some] = [await stub.request(0), await stub.request(1)]
    expect(map.body['response_format']).toEqual(EXPECTED['openai']?.(OPEN, false))
    expect(some.body['response_format']).toEqual(EXPECTED['openai']?.(optional, false))
  })
})

test('[LC-O3] A request describes the schema in the system text for an OpenAI model with tools that does not stream', async () => {
  const openai = findProvider('openai')
  // NOTE: the stub rejects requests without streaming, but records them.
  await using stub = await openai.stub([])
  const model = modelAt(openai, stub, { modelOptions: { disableStreaming: true } })
  for (const tools of [[TOOL], []]) {
    await expect(ask(model, requestFor(STRICT, { tools }))).rejects.toThrow('only streams')
  }
  const [withTools, alone] = [await stub.request(0), await stub.request(1)]
  expect(withTools.body).not.toHaveProperty('response_format')
  expect(JSON.stringify(withTools.body)).toContain('Your final answer must be JSON')
  expect(alone.body).toHaveProperty('response_format')
})

describe('Anthropic', () => {
  test('[LC-O1] Anthropic gets the closed schema in addition to existing output settings', async () => {
    const anthropic = findProvider('anthropic', 'anthropic:claude-opus-4-7')
    await using stub = await anthropic.stub(['{}'])
    const model = modelAt(anthropic, stub, { modelOptions: { outputConfig: { effort: 'low' } } })
    const properties = { pages: { type: 'integer', minimum: 1 } }
    await ask(model, requestFor({ type: 'object', properties }))
    expect((await stub.request(0)).body['output_config']).toEqual({
      effort: 'low',
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { pages: { type: 'integer', description: 'Must match {"minimum":1}' } },
          additionalProperties: false,
        },
      },
    })
  })

  test('[LC-O3] Anthropic gets a map schema in the system text', async () => {
    const anthropic = findProvider('anthropic')
    await using stub = await anthropic.stub(['{}'])
    await ask(modelAt(anthropic, stub), requestFor(OPEN))
    const { body } = await stub.request(0)
    expect(body).not.toHaveProperty('output_config')
    expect(body['system']).toContain(JSON.stringify(OPEN))
  })
})
