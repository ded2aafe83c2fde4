/** Tests that the stubs reject the requests that the real services reject. */
import { describe, expect, test } from 'vitest'

import { anthropicStub, openaiStub } from './index.ts'

const OPENAI = {
  path: '/chat/completions',
  headers: { authorization: 'Bearer key' },
  body: { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
}

const ANTHROPIC = {
  path: '/v1/messages',
  headers: { 'x-api-key': 'key', 'anthropic-version': '2023-06-01' },
  body: { model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hi' }] },
}

interface CheckedRequest {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: object
}

async function post(
  baseUrl: string,
  { path, headers, body }: CheckedRequest,
): Promise<readonly [number, string]> {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return [response.status, await response.text()]
}

const FUNCTION = { name: 'f', parameters: { type: 'object', properties: {} } }
const CALL = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
const WITH_CALL = { role: 'assistant', content: null, tool_calls: [CALL] }
const USER = { role: 'user', content: 'Hi' }

const OPENAI_REJECTIONS: readonly (readonly [number, string, Partial<CheckedRequest>])[] = [
  [404, 'Invalid URL', { path: '/completions' }],
  [401, 'API key', { headers: {} }],
  [400, 'model parameter', { body: { ...OPENAI.body, model: undefined } }],
  [400, 'only streams', { body: { ...OPENAI.body, stream: false } }],
  [400, 'empty array', { body: { ...OPENAI.body, messages: [] } }],
  [400, 'Invalid value', { body: { ...OPENAI.body, messages: [{ role: 'bot', content: '' }] } }],
  [400, 'only allowed when', { body: { ...OPENAI.body, tool_choice: 'none' } }],
  [400, 'tools[0]', { body: { ...OPENAI.body, tools: [{ type: 'function', function: {} }] } }],
  [
    400,
    'preceeding',
    { body: { ...OPENAI.body, messages: [{ role: 'tool', tool_call_id: 'a' }] } },
  ],
  [400, 'did not have response', { body: { ...OPENAI.body, messages: [USER, WITH_CALL, USER] } }],
  [400, 'did not have response', { body: { ...OPENAI.body, messages: [USER, WITH_CALL] } }],
  [
    400,
    'maximum length 40',
    {
      body: {
        ...OPENAI.body,
        messages: [USER, { ...WITH_CALL, tool_calls: [{ ...CALL, id: 'x'.repeat(41) }] }],
      },
    },
  ],
]

const RESPONSES_BODY = { model: 'm', stream: true, input: [USER] }
const format = (json_schema: object): Partial<CheckedRequest> => {
  return { body: { ...OPENAI.body, response_format: { type: 'json_schema', json_schema } } }
}
const responses = (change: object): Partial<CheckedRequest> => {
  return { path: '/responses', body: { ...RESPONSES_BODY, ...change } }
}
const CLOSED = { type: 'object', properties: {}, required: [], additionalProperties: false }
const REASONING = { type: 'reasoning', id: 'rs_1', summary: [] }
const CALLED = { type: 'function_call', id: 'fc_1r_0', call_id: 'a', name: 'f', arguments: '{}' }
const OUTPUT = { type: 'function_call_output', call_id: 'a', output: 'ok' }
const ITEMS = [USER, REASONING, CALLED, OUTPUT]

const OPENAI_FORMS: readonly (readonly [number, string, Partial<CheckedRequest>])[] = [
  [400, 'json_schema.name', format({ name: 'a b', schema: CLOSED })],
  [400, 'of \'type: \\"object', format({ name: 'a', schema: { type: 'array' } })],
  [400, 'false', format({ name: 'a', schema: { type: 'object' }, strict: true })],
  [
    400,
    'every key',
    format({ name: 'a', schema: { ...CLOSED, properties: { x: {} } }, strict: true }),
  ],
  [
    400,
    'not permitted',
    format({
      name: 'a',
      schema: { ...CLOSED, properties: { x: { minLength: 1 } }, required: ['x'] },
      strict: true,
    }),
  ],
  [400, 'model parameter', responses({ model: undefined })],
  [400, 'only streams', responses({ stream: false })],
  [400, "'input'", responses({ input: [] })],
  [400, 'only allowed when', responses({ tool_choice: 'none' })],
  [400, 'tools[0]', responses({ tools: [{ type: 'function' }] })],
  [400, 'response_format', responses({ text: { format: { type: 'json_schema', name: 'a' } } })],
  [400, 'required following item', responses({ input: [USER, REASONING] })],
  [400, "required 'reasoning' item", responses({ input: [USER, CALLED, OUTPUT] })],
  [400, 'No tool output', responses({ input: [USER, REASONING, CALLED] })],
  [400, 'No tool call found', responses({ input: [USER, OUTPUT] })],
  [400, 'not found', responses({ input: [USER, { ...REASONING, id: 'other' }, CALLED, OUTPUT] })],
  [200, 'response.completed', responses({ input: ITEMS })],
  [200, 'DONE', format({ name: 'a', schema: CLOSED, strict: true })],
  [200, 'DONE', format({ name: 'a', schema: { type: 'object' }, strict: false })],
]

const USE = { type: 'tool_use', id: 'a', name: 'f', input: {} }
const RESULT = { type: 'tool_result', tool_use_id: 'a', content: 'ok' }
const TOOLS = [{ name: 'f', input_schema: { type: 'object' } }]
const using = (...messages: object[]): Partial<CheckedRequest> => {
  return { body: { ...ANTHROPIC.body, tools: TOOLS, messages } }
}

const ANTHROPIC_REJECTIONS: readonly (readonly [number, string, Partial<CheckedRequest>])[] = [
  [404, 'Not Found', { path: '/messages' }],
  [401, 'x-api-key', { headers: { 'anthropic-version': '1' } }],
  [400, 'anthropic-version', { headers: { 'x-api-key': 'key' } }],
  [400, 'max_tokens: Field required', { body: { ...ANTHROPIC.body, max_tokens: undefined } }],
  [400, 'at least one message', { body: { ...ANTHROPIC.body, messages: [] } }],
  [
    400,
    'must define tools',
    { body: { ...ANTHROPIC.body, messages: [USER, { role: 'assistant', content: [USE] }] } },
  ],
  [400, 'while providing tools', { body: { ...ANTHROPIC.body, tool_choice: { type: 'none' } } }],
  [400, "Input should be 'object'", { body: { ...ANTHROPIC.body, tools: [{ name: 'f' }] } }],
  [
    400,
    'does not support oneOf',
    {
      body: {
        ...ANTHROPIC.body,
        tools: [{ name: 'f', input_schema: { type: 'object', anyOf: [] } }],
      },
    },
  ],
  [400, "Input should be 'user'", using({ role: 'system', content: 'x' })],
  [400, 'non-empty', using({ role: 'user', content: '' })],
  [400, 'unexpected `tool_use_id`', using({ role: 'user', content: [RESULT] })],
  [400, 'without `tool_result`', using(USER, { role: 'assistant', content: [USE] }, USER)],
  [
    400,
    'should match pattern',
    using(USER, { role: 'assistant', content: [{ ...USE, id: 'a b' }] }),
  ],
  [400, 'valid dictionary', using(USER, { role: 'assistant', content: [{ ...USE, input: 'x' }] })],
]

const signature = Buffer.from('signed:Hm.').toString('base64')
const THINKING = { type: 'thinking', thinking: 'Hm.', signature }
const closed = (schema: object): Partial<CheckedRequest> => {
  const output_config = { format: { type: 'json_schema', schema } }
  return { body: { ...ANTHROPIC.body, output_config } }
}
const thinking = (...content: object[]): Partial<CheckedRequest> => {
  const messages = [USER, { role: 'assistant', content }, { role: 'user', content: [RESULT] }]
  return { body: { ...ANTHROPIC.body, tools: TOOLS, thinking: { type: 'enabled' }, messages } }
}

const ANTHROPIC_FORMS: readonly (readonly [number, string, Partial<CheckedRequest>])[] = [
  [400, 'explicitly set to false', closed({ type: 'object' })],
  [400, 'explicitly set', closed({ ...CLOSED, properties: { x: { items: { type: 'object' } } } })],
  [400, "'minimum' is not supported", closed({ type: 'integer', minimum: 0 })],
  [400, 'other than 0 or 1', closed({ type: 'array', minItems: 2 })],
  [400, 'but found `tool_use`', thinking(USE)],
  [400, 'Invalid `signature`', thinking({ ...THINKING, thinking: 'Ha.' }, USE)],
  [200, 'message_stop', thinking(THINKING, USE)],
  [200, 'message_stop', thinking({ type: 'redacted_thinking', data: 'x' }, USE)],
  [200, 'message_stop', closed(CLOSED)],
]

describe('openaiStub', () => {
  test.each(OPENAI_FORMS)('openaiStub answers %i %s', async (status, message, change) => {
    await using stub = await openaiStub(['yes'])
    const [answered, text] = await post(stub.baseUrl, { ...OPENAI, ...change })
    expect([answered, text]).toEqual([status, expect.stringContaining(message)])
  })

  test.each(OPENAI_REJECTIONS)('openaiStub answers %i %s', async (status, message, change) => {
    await using stub = await openaiStub([])
    const [answered, text] = await post(stub.baseUrl, { ...OPENAI, ...change })
    expect(answered).toBe(status)
    expect(text).toContain(message)
    expect(JSON.parse(text)).toMatchObject({ error: { type: 'invalid_request_error' } })
  })

  test('openaiStub sends usage only on request and ends every stream with [DONE]', async () => {
    await using stub = await openaiStub(['one', 'two'])
    const tools = [{ type: 'function', function: FUNCTION }]
    const [, plain] = await post(stub.baseUrl, { ...OPENAI, body: { ...OPENAI.body, tools } })
    const body = { ...OPENAI.body, stream_options: { include_usage: true } }
    const [, counted] = await post(stub.baseUrl, { ...OPENAI, body })
    expect(plain).not.toContain('prompt_tokens')
    expect(counted).toContain('"choices":[],"usage":{"prompt_tokens":')
    for (const text of [plain, counted]) expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })
})

describe('anthropicStub', () => {
  test.each(ANTHROPIC_FORMS)('anthropicStub answers %i %s', async (status, message, change) => {
    await using stub = await anthropicStub(['yes'])
    const [answered, text] = await post(stub.baseUrl, { ...ANTHROPIC, ...change })
    expect([answered, text]).toEqual([status, expect.stringContaining(message)])
  })

  test.each(ANTHROPIC_REJECTIONS)(
    'anthropicStub answers %i %s',
    async (status, message, change) => {
      await using stub = await anthropicStub([])
      const [answered, text] = await post(stub.baseUrl, { ...ANTHROPIC, ...change })
      expect(answered).toBe(status)
      expect(text).toContain(message)
      expect(JSON.parse(text)).toMatchObject({ type: 'error' })
    },
  )

  test('anthropicStub opens and closes blocks in order', async () => {
    const reply = { reasoning: 'Hm.', text: 'Well.', toolCalls: [{ name: 'f', arguments: {} }] }
    await using stub = await anthropicStub([reply])
    const [, text] = await post(stub.baseUrl, ANTHROPIC)
    const names = text.match(/(?<=^event: ).*$/gm)?.filter((name) => !name.endsWith('_delta'))
    const block = ['content_block_start', 'content_block_stop']
    expect(names).toEqual(['message_start', 'ping', ...block, ...block, ...block, 'message_stop'])
    expect(text.match(/"index":\d/g)?.at(-1)).toBe('"index":2')
  })
})

test('A stub answers 500 when its script is exhausted', async () => {
  await using stub = await openaiStub(['only one'])
  await post(stub.baseUrl, OPENAI)
  const [status, text] = await post(stub.baseUrl, OPENAI)
  expect(status).toBe(500)
  expect(text).toContain('no answer to call 2')
  expect(await (await stub.request(1)).ended).toBe('sent')
})
