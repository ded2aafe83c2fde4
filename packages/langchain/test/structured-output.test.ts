/** [M6] What a provider is sent when an answer must be JSON of a schema. */
import { Type } from '@tutti/core'
import { describe, expect, test } from 'vitest'

import { ask, modelAt, PROVIDERS, REQUEST } from './providers.ts'

import type { Provider } from './providers.ts'
import type { StubRequest } from '../src/testing/index.ts'
import type { ModelRequest } from '@tutti/ensemble'

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

function asking(schema: object, more: Partial<ModelRequest> = {}): ModelRequest {
  return { ...REQUEST, ...more, output: { name: 'brief', schema } }
}

function at(name: string, model?: string): Provider {
  const provider = PROVIDERS.find((each) => each.name === name)
  if (provider === undefined) throw new Error(`no provider ${name}`)
  return { ...provider, model: model ?? provider.model }
}

/** Where each wire has the form of the answer. */
const FORMS: readonly (readonly [string, Provider, (request: StubRequest) => unknown])[] = [
  ['openai', at('openai'), ({ body }) => body['response_format']],
  ['openai by Responses', at('openai', 'openai:gpt-5.6'), ({ body }) => body['text']],
  ['anthropic', at('anthropic'), ({ body }) => body['output_config']],
]

const WANTED: Readonly<Record<string, (schema: object, strict: boolean) => object>> = {
  openai: (schema, strict) => ({
    type: 'json_schema',
    json_schema: { name: 'brief', schema, strict },
  }),
  'openai by Responses': (schema, strict) => ({
    format: { type: 'json_schema', name: 'brief', schema, strict },
  }),
  anthropic: (schema) => ({ format: { type: 'json_schema', schema } }),
}

describe.each(FORMS)('%s', (name, provider, formOf) => {
  test('[M6] the schema is on the wire, and the answer streams', async () => {
    await using stub = await provider.stub([{ text: ANSWER }])
    const { texts, reply } = await ask(modelAt(provider, stub), asking(STRICT))
    expect(formOf(await stub.request(0))).toEqual(WANTED[name]?.(STRICT, true))
    expect(reply.text).toBe(ANSWER)
    expect(texts.join('')).toBe(ANSWER)
    expect(texts.length).toBeGreaterThan(1)
  })

  test('[M6] tools stay beside it as they are', async () => {
    const call = { id: 'call-a', name: 'look_up', arguments: { word: 'x' } }
    await using stub = await provider.stub([{ toolCalls: [call] }, 'x'])
    const model = modelAt(provider, stub)
    const { reply } = await ask(model, asking(STRICT, { tools: [TOOL] }))
    await ask(model, { ...REQUEST, tools: [TOOL] })
    const [request, plain] = [await stub.request(0), await stub.request(1)]
    expect(formOf(request)).toEqual(WANTED[name]?.(STRICT, true))
    expect(request.body['tools']).toEqual(plain.body['tools'])
    expect(reply.toolCalls).toMatchObject([{ id: 'call-a', arguments: '{"word":"x"}' }])
  })

  test('[M6] a request without it, or a model that is told to have no such mode, sends none', async () => {
    await using stub = await provider.stub(['plain', 'plain'])
    await ask(modelAt(provider, stub))
    await ask(modelAt(provider, stub, { structuredOutput: false }), asking(STRICT))
    const [, told] = [await stub.request(0), await stub.request(1)]
    for (const request of stub.requests) {
      expect(JSON.stringify(formOf(request) ?? {})).not.toContain('json_schema')
    }
    expect(JSON.stringify(told.body)).not.toContain('pages')
  })

  test('[O1] of the object of a schema library only what is JSON counts', async () => {
    await using stub = await provider.stub([{ text: ANSWER }, { text: ANSWER }])
    const model = modelAt(provider, stub)
    await ask(model, asking(Brief))
    await ask(model, asking({ ...STRICT, minProperties: undefined, [Symbol('mark')]: 1 }))
    for (const request of [await stub.request(0), await stub.request(1)]) {
      expect(formOf(request)).toEqual(WANTED[name]?.(STRICT, true))
    }
  })

  test('[O3] a schema that is no object is told at the end of the system text', async () => {
    await using stub = await provider.stub(['[]', '[]'])
    const model = modelAt(provider, stub)
    const list = { type: 'array', items: { type: 'string' } }
    await ask(model, asking(list))
    await ask(model, asking(list, { messages: [{ role: 'user', content: 'List.' }] }))
    const words = `Your final answer must be JSON alone, with no text around it, that matches this JSON Schema:\n${JSON.stringify(list)}`
    const [first, second] = [await stub.request(0), await stub.request(1)]
    expect(JSON.stringify(first.body)).toContain(
      JSON.stringify(`You are Tester.\n\n${words}`).slice(1, -1),
    )
    expect(JSON.stringify(second.body)).toContain(JSON.stringify(words).slice(1, -1))
    for (const request of stub.requests) {
      expect(JSON.stringify(formOf(request) ?? {})).not.toContain('json_schema')
    }
  })
})

describe('of OpenAI', () => {
  test('[O2] a schema that it cannot enforce is sent without strict', async () => {
    const openai = at('openai')
    await using stub = await openai.stub(['{}', '{}'])
    const model = modelAt(openai, stub)
    const optional = { ...STRICT, required: ['title'] }
    await ask(model, asking(OPEN))
    await ask(model, asking(optional))
    const [map, some] = [await stub.request(0), await stub.request(1)]
    expect(map.body['response_format']).toEqual(WANTED['openai']?.(OPEN, false))
    expect(some.body['response_format']).toEqual(WANTED['openai']?.(optional, false))
  })
})

test('[O3] beside tools a model of OpenAI that does not stream is told in words', async () => {
  const openai = at('openai')
  // NOTE: the stub refuses what does not stream, but records it.
  await using stub = await openai.stub([])
  const model = modelAt(openai, stub, { modelOptions: { disableStreaming: true } })
  for (const tools of [[TOOL], []]) {
    await expect(ask(model, asking(STRICT, { tools }))).rejects.toThrow('only streams')
  }
  const [beside, alone] = [await stub.request(0), await stub.request(1)]
  expect(beside.body).not.toHaveProperty('response_format')
  expect(JSON.stringify(beside.body)).toContain('Your final answer must be JSON')
  expect(alone.body).toHaveProperty('response_format')
})

describe('of Anthropic', () => {
  test('[O1] the closed form is sent, and settings of the answer that were there stay', async () => {
    const anthropic = at('anthropic', 'anthropic:claude-opus-4-7')
    await using stub = await anthropic.stub(['{}'])
    const model = modelAt(anthropic, stub, { modelOptions: { outputConfig: { effort: 'low' } } })
    const properties = { pages: { type: 'integer', minimum: 1 } }
    await ask(model, asking({ type: 'object', properties }))
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

  test('[O3] a map is told in words', async () => {
    const anthropic = at('anthropic')
    await using stub = await anthropic.stub(['{}'])
    await ask(modelAt(anthropic, stub), asking(OPEN))
    const { body } = await stub.request(0)
    expect(body).not.toHaveProperty('output_config')
    expect(body['system']).toContain(JSON.stringify(OPEN))
  })
})
