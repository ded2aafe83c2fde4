/**
 * Tests the forms of streams that services send in addition to the documented one. Each row is a body that a real
 * server sends, and what the model port reports.
 */
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatGroq } from '@langchain/groq'
import { ChatOpenAI } from '@langchain/openai'
import { defineTool } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { ensemble, task } from '@tutti/ensemble'
import type { ChatModel, ModelRequest } from '@tutti/ensemble/adapter'
import { describe, expect, it } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { ask, catchFailure, KEY, REQUEST } from './providers.ts'
import { startRawService, type RawAnswer } from './raw-service.ts'

type Fields = Readonly<Record<string, unknown>>

const WITH_TOOL: ModelRequest = {
  ...REQUEST,
  tools: [
    {
      name: 'echo',
      description: 'Repeats',
      inputSchema: { type: 'object', properties: { a: {} } },
    },
  ],
}

const GPT = 'openai:gpt-4o-mini'
const CLAUDE = 'anthropic:claude-sonnet-4-5'
const RESPONSES = 'openai:gpt-5.6'
const GEMINI = 'google-genai:gemini-2.5-flash'

function modelAt(name: string, url: string, modelOptions: Fields = {}): ChatModel {
  const baseUrl = name.startsWith('openai') ? `${url}/v1` : url
  return langchainModel(name, { apiKey: KEY, baseUrl, timeoutMs: 20_000, modelOptions })
}

/** Reads an answer of the model `name` whose service sends `answer`. */
async function read(
  answer: RawAnswer | string,
  name = GPT,
  modelOptions: Fields = {},
): Promise<Fields> {
  await using service = await startRawService([answer])
  const { reply, texts, reasoning } = await ask(modelAt(name, service.url, modelOptions), WITH_TOOL)
  expect(texts.join('')).toBe(reply.text)
  const calls = reply.toolCalls.map((call) => [call.name, call.arguments])
  expect(new Set(reply.toolCalls.map(({ id }) => id)).size).toBe(calls.length)
  return { ...reply, usage: reply.usage, calls, reasoning: reasoning.join('') }
}

/** Returns the error of a call whose service sends `answer`. */
async function fail(answer: RawAnswer | string, name = GPT): Promise<unknown> {
  await using service = await startRawService([answer])
  return await catchFailure(modelAt(name, service.url), WITH_TOOL)
}

const data = (value: unknown): string =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const chunk = (delta: unknown, finish: unknown = null, more: Fields = {}): string =>
  data({ ...base, choices: [{ index: 0, delta, finish_reason: finish }], ...more })
const DONE = 'data: [DONE]\n\n'
const ROLE = { role: 'assistant', content: null }
const made = (fields: unknown, more: Fields = {}): Fields => ({
  index: 0,
  id: 'c',
  type: 'function',
  function: fields,
  ...more,
})
const echo = (args: unknown): Fields => ({ name: 'echo', arguments: args })
const CALL = { tool_calls: [made(echo('{"a":1}'))] }
const calling = (...calls: readonly unknown[]): string =>
  calls.map((call) => chunk({ ...ROLE, tool_calls: [call] })).join('')
const END = chunk({}, 'tool_calls') + DONE
const HI = chunk({ role: 'assistant', content: 'hi' })
const STOP = chunk({}, 'stop') + DONE

describe('a chat completion is read', () => {
  const ONE = [['echo', '{"a":1}']]
  const TWO = [
    ['echo', '{"a":1}'],
    ['echo', '{"a":2}'],
  ]

  it.each<readonly [form: string, body: string, expected: Fields]>([
    // First chunks
    ['calls without a role', chunk(CALL) + END, { calls: ONE, finishReason: 'tool_calls' }],
    ['text without a role', chunk({ content: 'hi' }) + STOP, { text: 'hi' }],
    ['an empty role', chunk({ role: '', content: 'hi' }) + STOP, { text: 'hi' }],
    ['the role null', chunk({ role: null, ...CALL }) + END, { calls: ONE }],
    ['the role model', chunk({ role: 'model', content: 'hi' }) + STOP, { text: 'hi' }],
    ['the role Assistant', chunk({ role: 'Assistant', ...CALL }) + END, { calls: ONE }],
    ['a role in the second chunk', chunk(CALL) + chunk(ROLE) + END, { calls: ONE }],
    ['another role later', HI + chunk({ role: 'tool', content: '!' }) + STOP, { text: 'hi!' }],
    [
      'a first chunk without choices',
      data({ ...base, choices: [], prompt_filter_results: [] }) + HI + STOP,
      { text: 'hi' },
    ],
    ['choices null', data({ ...base, choices: null }) + HI + STOP, { text: 'hi' }],
    ['no field choices', data(base) + HI + STOP, { text: 'hi' }],
    ['choices with null', data({ ...base, choices: [null] }) + HI + STOP, { text: 'hi' }],
    [
      'ids and models of other types',
      data({ id: 7, model: null, created: 'now', choices: [{ delta: { content: 'hi' } }] }) +
        chunk({ content: '!' }) +
        STOP,
      { text: 'hi!' },
    ],
    [
      'only the first of several choices',
      HI + data({ ...base, choices: [{ index: 1, delta: { content: 'no' } }] }) + STOP,
      { text: 'hi' },
    ],
    [
      'a message instead of a delta',
      data({ ...base, choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] }),
      { text: 'hi' },
    ],
    [
      'a delta next to the whole message',
      data({
        ...base,
        choices: [{ index: 0, delta: { content: 'h' }, message: { content: 'h' } }],
      }) +
        data({
          ...base,
          choices: [{ index: 0, delta: { content: 'i' }, message: { content: 'hi' } }],
        }) +
        STOP,
      { text: 'hi' },
    ],
    ['text of a legacy completion', data({ choices: [{ text: 'hi' }] }) + STOP, { text: 'hi' }],

    // Content
    [
      'content as a list of parts',
      chunk({
        content: [
          { type: 'text', text: 'h' },
          { type: 'text', text: 'i' },
        ],
      }) + STOP,
      { text: 'hi' },
    ],
    ['content as a list of texts', chunk({ content: ['h', 'i'] }) + STOP, { text: 'hi' }],
    [
      'content as one part',
      chunk({ content: { type: 'text', text: 'hi' } }) + STOP,
      { text: 'hi' },
    ],
    [
      'text with a value',
      chunk({ content: [{ type: 'text', text: { value: 'hi' } }] }) + STOP,
      { text: 'hi' },
    ],
    ['a number as content', chunk({ content: 4 }) + chunk({ content: '2' }) + STOP, { text: '42' }],
    [
      'thinking in a list of parts',
      chunk({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'hi' },
        ],
      }) + STOP,
      { text: 'hi', reasoning: 'hm' },
    ],
    [
      'a refusal',
      chunk({ refusal: 'No' }) + chunk({ refusal: '.' }) + STOP,
      { text: '', finishReason: 'refusal', refusal: 'No.' },
    ],

    // Reasoning
    ...['reasoning', 'reasoning_content', 'reasoning_text', 'thinking'].map(
      (name) =>
        [
          `reasoning under the name ${name}`,
          chunk({ role: 'assistant', [name]: 'I think' }) + HI + STOP,
          { text: 'hi', reasoning: 'I think' },
        ] as const,
    ),
    [
      'reasoning under two names once',
      chunk({ reasoning: 'hm', reasoning_content: 'hm', reasoning_details: [{ text: 'hm' }] }) +
        HI +
        STOP,
      { reasoning: 'hm' },
    ],
    [
      'reasoning details',
      chunk({
        reasoning_details: [
          { type: 'reasoning.text', text: 'a' },
          { type: 'reasoning.summary', summary: 'b' },
          { type: 'reasoning.encrypted', data: 'x' },
        ],
      }) +
        HI +
        STOP,
      { reasoning: 'ab' },
    ],
    [
      'reasoning as an object',
      chunk({ reasoning: { text: 'hm' } }) + HI + STOP,
      { reasoning: 'hm' },
    ],
    [
      'reasoning in one chunk with text',
      chunk({ reasoning: 'hm', content: 'hi' }) + STOP,
      { text: 'hi', reasoning: 'hm' },
    ],
    [
      'a flag for reasoning',
      chunk({ reasoning: false, content: 'hi' }) + STOP,
      { text: 'hi', reasoning: '' },
    ],
    [
      'think tags at the start',
      chunk({ content: '<think>\nhm\n</think>\n\nhi' }) + STOP,
      { text: 'hi', reasoning: '\nhm\n' },
    ],
    [
      'think tags in pieces',
      [...' <think>a<b</think> hi <think>'].map((content) => chunk({ content })).join('') + STOP,
      { text: 'hi <think>', reasoning: 'a<b' },
    ],
    [
      'a start that looks like a tag',
      chunk({ content: '<thi' }) + STOP,
      { text: '<thi', reasoning: '' },
    ],
    [
      'think tags in the middle',
      chunk({ content: 'a <think>b</think>' }) + STOP,
      { text: 'a <think>b</think>' },
    ],
    [
      'think tags before calls',
      chunk({ content: '<think>x</think>' }) + chunk(CALL) + END,
      { text: '', reasoning: 'x', calls: ONE },
    ],

    // Ends
    ['[DONE] without a finish reason after text', HI + DONE, { text: 'hi', finishReason: 'stop' }],
    [
      '[DONE] without a finish reason after a call',
      chunk({ ...ROLE, ...CALL }) + DONE,
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    ['an empty finish reason', HI + chunk({}, '') + DONE, { text: 'hi', finishReason: 'stop' }],
    ['a finish reason without a delta', HI + chunk(undefined, 'stop') + DONE, { text: 'hi' }],
    ['a finish reason with the delta null', HI + chunk(null, 'stop') + DONE, { text: 'hi' }],
    ['a finish reason without [DONE]', HI + chunk({}, 'stop'), { text: 'hi' }],
    [
      'a complete call without any end',
      chunk({ ...ROLE, ...CALL }),
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    ['[DONE] without an empty line after it', `${HI}data: [DONE]`, { text: 'hi' }],
    ['[DONE] without a space', `${HI}data:[DONE]\n\n`, { text: 'hi' }],
    ['[done] in lower case', `${HI}data: [done]\n\n`, { text: 'hi' }],
    ['stop for calls', chunk(CALL) + STOP, { calls: ONE, finishReason: 'tool_calls' }],
    [
      'two finish reasons',
      chunk(CALL) + chunk({}, 'tool_calls') + chunk({}, 'stop') + DONE,
      { calls: ONE },
    ],
    [
      'function_call as the finish reason',
      chunk({ function_call: echo('{"a":1}') }) + chunk({}, 'function_call') + DONE,
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    ['a cut answer', HI + chunk({}, 'length') + DONE, { text: 'hi', finishReason: 'length' }],
    ['chunks after [DONE] not at all', HI + STOP + chunk({ content: 'no' }), { text: 'hi' }],
    [
      'an empty answer',
      chunk({ role: 'assistant', content: '' }) + STOP,
      { text: '', finishReason: 'stop' },
    ],
    ['text beside calls', HI + chunk(CALL) + END, { text: 'hi', calls: ONE }],
    ['text after calls', chunk(CALL) + HI + END, { text: 'hi', calls: ONE }],

    // Fragments of calls
    ['arguments as an object', calling(made(echo({ a: 1 }))) + END, { calls: ONE }],
    ['arguments as an empty object', calling(made(echo({}))) + END, { calls: [['echo', '{}']] }],
    ['arguments null', calling(made(echo(null))) + END, { calls: [['echo', '{}']] }],
    ['no arguments', calling(made({ name: 'echo' })) + END, { calls: [['echo', '{}']] }],
    [
      'a call that is not in a list',
      chunk({ tool_calls: made(echo('{"a":1}')) }) + END,
      { calls: ONE },
    ],
    [
      'a call without function',
      calling({ index: 0, id: 'c', ...echo('{"a":1}') }) + END,
      { calls: ONE },
    ],
    [
      'a call without id, index and type',
      calling({ function: echo('{"a":1}') }) + END,
      { calls: ONE },
    ],
    [
      'an index as text',
      calling(made(echo('{"a":'), { index: '0' }), { index: '0', function: { arguments: '1}' } }) +
        END,
      { calls: ONE },
    ],
    [
      'an index null',
      calling(made(echo('{"a":'), { index: null }), {
        index: null,
        function: { arguments: '1}' },
      }) + END,
      { calls: ONE },
    ],
    ['a number as id', calling(made(echo('{"a":1}'), { id: 7 })) + END, { calls: ONE }],
    [
      'an empty id in later pieces',
      calling(made(echo('{"a":')), { index: 0, id: '', function: { name: '', arguments: '1}' } }) +
        END,
      { calls: ONE },
    ],
    [
      'null names and ids in later pieces',
      calling(made(echo('{"a":')), {
        index: 0,
        id: null,
        function: { name: null, arguments: '1}' },
      }) + END,
      { calls: ONE },
    ],
    [
      'another id in each piece',
      calling(
        made(echo('{"a":'), { id: 'x' }),
        { index: 0, id: 'y', function: { arguments: '1' } },
        { index: 0, id: 'z', function: { arguments: '}' } },
      ) + END,
      { calls: ONE },
    ],
    [
      'another id in each piece without an index',
      calling({ id: 'x', function: echo('{"a":') }, { id: 'y', function: { arguments: '1}' } }) +
        END,
      { calls: ONE },
    ],
    [
      'another id and the name in each piece',
      calling(made(echo('{"a":'), { id: 'x' }), made(echo('1}'), { id: 'y' })) + END,
      { calls: ONE },
    ],
    [
      'the name in each piece',
      calling(made(echo('{"a":')), made(echo('1}'))) + END,
      { calls: ONE },
    ],
    [
      'the id before the name',
      calling(
        { index: 0, id: 'x' },
        { index: 0, function: { name: 'echo' } },
        { index: 0, function: { arguments: '{"a":1}' } },
      ) + END,
      { calls: ONE },
    ],
    [
      'a call that is repeated whole',
      calling(made(echo('{"a":1}')), made(echo('{"a":1}'))) + END,
      { calls: ONE },
    ],
    [
      'a call that is repeated as an object',
      calling(made(echo({ a: 1 })), made(echo({ a: 1 }))) + END,
      { calls: ONE },
    ],
    [
      'two calls at one index',
      calling(made(echo('{"a":1}'), { id: 'x' }), made(echo('{"a":2}'), { id: 'y' })) + END,
      { calls: TWO },
    ],
    [
      'two calls at one index without ids',
      calling({ index: 0, function: echo('{"a":1}') }, { index: 0, function: echo('{"a":2}') }) +
        END,
      { calls: TWO },
    ],
    [
      'two calls with one id',
      calling(made(echo('{"a":1}')), made(echo('{"a":2}'), { index: 1 })) + END,
      { calls: TWO },
    ],
    [
      'two calls with one id at one index',
      calling(made(echo('{"a":1}')), made(echo('{"a":2}'))) + END,
      { calls: TWO },
    ],
    [
      'two calls in one chunk',
      chunk({ tool_calls: [made(echo('{"a":1}')), made(echo('{"a":2}'), { index: 1, id: 'd' })] }) +
        END,
      { calls: TWO },
    ],
    [
      'two calls as objects',
      calling(made(echo({ a: 1 }), { id: 'x' }), made(echo({ a: 2 }), { id: 'y' })) + END,
      { calls: TWO },
    ],
    [
      'interleaved pieces',
      calling(
        made(echo('{"a"'), { id: 'x' }),
        made(echo('{"a"'), { id: 'y', index: 1 }),
        { index: 0, function: { arguments: ':1}' } },
        { index: 1, function: { arguments: ':2}' } },
      ) + END,
      { calls: TWO },
    ],
    [
      'null in the list of calls',
      chunk({ tool_calls: [null, made(echo('{"a":1}'))] }) + END,
      { calls: ONE },
    ],
    [
      'tool_calls null and empty',
      chunk({ content: 'hi', tool_calls: null }) + chunk({ tool_calls: [] }) + STOP,
      { text: 'hi', calls: [] },
    ],
    [
      'an empty piece after a call',
      calling(made(echo('{"a":1}')), { index: 0, id: 'z', function: { arguments: '' } }) + END,
      { calls: ONE },
    ],

    // Events
    ['comments and blank lines', `: keep-alive\n\n\n${HI}: PROCESSING\n\n${STOP}`, { text: 'hi' }],
    ['lines that end with CR LF', (HI + STOP).replaceAll('\n', '\r\n'), { text: 'hi' }],
    ['lines that end with CR', (HI + STOP).replaceAll('\n', '\r'), { text: 'hi' }],
    ['a byte order mark', `\uFEFF${HI}${STOP}`, { text: 'hi' }],
    ['data without a space', (HI + STOP).replaceAll('data: ', 'data:'), { text: 'hi' }],
    ['empty data', `data:\n\ndata: \n\n${HI}${STOP}`, { text: 'hi' }],
    ['data null', `data: null\n\n${HI}${STOP}`, { text: 'hi' }],
    ['several events without empty lines', (HI + STOP).replaceAll('\n\n', '\n'), { text: 'hi' }],
    ['names and ids of events', `id: 1\nevent: message\nretry: 5\n${HI}${STOP}`, { text: 'hi' }],
    [
      'an error field without an error',
      chunk({ content: 'hi' }, null, { error: null }) + chunk({}, 'stop', { error: {} }) + DONE,
      { text: 'hi' },
    ],
  ])('A chat completion is read from a stream with %s', async (_form, body, expected) => {
    expect(await read(body)).toMatchObject(expected)
  })

  it('A chat completion is read from a stream in single bytes', async () => {
    const body = chunk({ role: 'assistant', content: 'Grüße 👋' }) + STOP
    expect(await read({ body, bytesPerWrite: 1 })).toMatchObject({ text: 'Grüße 👋' })
  })

  it('A chat completion is read from a connection that stays open after [DONE]', async () => {
    expect(await read({ body: HI + STOP, staysOpen: true })).toMatchObject({ text: 'hi' })
  })

  it.each(['text/plain', 'application/json', 'application/octet-stream', ''])(
    'A chat completion is read from a stream with the content type "%s"',
    async (type) => {
      expect(await read({ body: HI + STOP, type })).toMatchObject({ text: 'hi' })
    },
  )

  const whole = {
    id: 'c',
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { content: 'hi', reasoning: 'hm', ...CALL },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 2 },
  }
  const expected = {
    text: 'hi',
    calls: ONE,
    reasoning: 'hm',
    usage: { inputTokens: 5, outputTokens: 2 },
  }

  it.each(['application/json', 'text/plain', 'text/event-stream'])(
    'A chat completion is read from one JSON body with the content type %s',
    async (type) => {
      expect(await read({ body: JSON.stringify(whole), type })).toMatchObject(expected)
    },
  )

  it('A chat completion is read from a body of a model that does not stream', async () => {
    const body = JSON.stringify(whole)
    const answer = { body, type: 'application/json' }
    expect(await read(answer, GPT, { disableStreaming: true })).toMatchObject(expected)
  })
})

describe('a chat completion fails as retryable', () => {
  it.each<readonly [form: string, body: string, message: string]>([
    [
      'tool_calls without a call',
      chunk(ROLE) + END,
      'reported tool calls (tool_calls) but sent none',
    ],
    ['tool_calls with text but without a call', HI + END, 'but sent none'],
    ['tool_calls with an empty call', chunk({ tool_calls: [{}] }) + END, 'but sent none'],
    [
      'a call without a name',
      calling(made({ arguments: '{"a":1}' })) + END,
      'a tool call without a name',
    ],
    ['text without an end', HI, 'the answer was cut off'],
    ['nothing', '', 'the answer was cut off'],
    ['only [DONE]', DONE, 'the answer was cut off'],
    ['an empty chunk and [DONE]', chunk(ROLE) + DONE, 'the answer was cut off'],
    [
      'an incomplete call and [DONE]',
      calling(made(echo('{"a":'))) + DONE,
      'the answer was cut off',
    ],
    [
      'a call without arguments and without an end',
      calling(made(echo(''))),
      'the answer was cut off',
    ],
    ['an incomplete call without an end', calling(made(echo('{"a":'))), 'the answer was cut off'],
    [
      'a complete and an incomplete call',
      calling(made(echo('{}')), made(echo('{"a'), { index: 1, id: 'd' })),
      'the answer was cut off',
    ],
    ['reasoning without an end', chunk({ reasoning: 'hm' }), 'the answer was cut off'],
    ['an event that is cut', `${HI}data: {"choices":[{"delta"`, 'a line that is not JSON'],
    ['error as the finish reason', HI + chunk({}, 'error') + DONE, 'broke off the answer (error)'],
    [
      'stop and then error',
      HI + chunk({}, 'stop') + chunk({}, 'error') + DONE,
      'broke off the answer',
    ],
  ])('A chat completion fails as retryable after %s', async (_form, body, message) => {
    const error = await fail(body)
    expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable: true })
    expect(errorMessage(error)).toContain(message)
  })
})

describe('an error inside a stream', () => {
  const openRouter = (code: unknown): string =>
    data({ error: { code, message: 'Provider disconnected' } })
  const rows: readonly (readonly [
    form: string,
    event: string,
    retryable: boolean,
    shown: string,
  ])[] = [
    ['the code 502', openRouter(502), true, '502 Provider disconnected'],
    ['the code 429', openRouter(429), true, '429 Provider disconnected'],
    ['the code 503 as text', openRouter('503'), true, '503 Provider disconnected'],
    ['the code 408', openRouter(408), true, '408'],
    ['the code 400', openRouter(400), false, '400'],
    ['the code 401', openRouter(401), false, '401'],
    ['the code 402 as text', openRouter('402'), false, '402'],
    ['a code of its own', openRouter(20_015), true, 'Provider disconnected'],
    ['no code', data({ error: { message: 'Broken' } }), true, 'Broken'],
    [
      'InternalServerError of vLLM',
      data({ error: { type: 'InternalServerError', code: 500, message: 'x' } }),
      true,
      '500 x',
    ],
    [
      'the type InternalServerError alone',
      data({ error: { type: 'InternalServerError', message: 'x' } }),
      true,
      'x',
    ],
    [
      'the type BadRequestError',
      data({ error: { type: 'BadRequestError', message: 'x' } }),
      false,
      'x',
    ],
    [
      'a type and a code as text',
      data({ type: 'error', error: { type: 'internal_server_error', code: '503', message: 'x' } }),
      true,
      '503 x',
    ],
    [
      'the type of an invalid request',
      data({ error: { type: 'invalid_request_error', message: 'x' } }),
      false,
      'x',
    ],
    ['a spent quota', data({ error: { code: 'insufficient_quota', message: 'x' } }), false, 'x'],
    [
      'a text of Ollama',
      data({ error: 'an error was encountered while running the model' }),
      true,
      'an error was encountered',
    ],
    ['a list of texts', data({ error: ['x', 'y'] }), true, 'x'],
    ['a list of errors', data({ error: [{ code: 400, message: 'x' }] }), false, '400 x'],
    ['an error that is true', data({ error: true, message: 'x', status: 503 }), true, '503 x'],
    ['an error that is only true', data({ error: true }), true, '{"error":true}'],
    ['a line without data:', '{"error":"unexpected EOF"}\n\n', true, 'unexpected EOF'],
    ['the object error of vLLM', data({ object: 'error', message: 'x', code: 500 }), true, '500 x'],
    [
      'the object error with a fault of the request',
      data({ object: 'error', message: 'x', code: 400 }),
      false,
      '400 x',
    ],
    [
      'an event with the name error',
      `event: error\ndata: {"message":"x","code":"overloaded"}\n\n`,
      true,
      'x',
    ],
    [
      'an error line of llama.cpp',
      'error: {"code":500,"message":"slot unavailable","type":"server_error"}\n\n',
      true,
      '500 slot unavailable',
    ],
    [
      'an error in a choice',
      data({
        ...base,
        choices: [{ index: 0, error: { code: 502, message: 'x' }, finish_reason: 'error' }],
      }),
      true,
      '502 x',
    ],
    [
      'an error next to choices',
      chunk({ content: '' }, 'error', { error: { code: 403, message: 'x' } }),
      false,
      '403 x',
    ],
    ['a code and a message', data({ code: 500, message: 'x', choices: null }), true, '500 x'],
    [
      'a detail of FastAPI',
      data({ detail: 'Internal Server Error' }),
      true,
      'Internal Server Error',
    ],
    [
      'a status of MiniMax',
      data({ ...base, choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }),
      true,
      'rate limit',
    ],
    [
      'the text of a proxy',
      'data: upstream connect error or disconnect/reset before headers\n\n',
      true,
      'upstream connect error',
    ],
    ['a page', 'data: <html><body>502 Bad Gateway</body></html>\n\n', true, '502 Bad Gateway'],
  ]

  it.each(rows)(
    'An error inside a stream with %s fails accordingly',
    async (_form, event, retryable, shown) => {
      for (const body of [event, chunk({ role: 'assistant', content: 'Hel' }) + event]) {
        const error = await fail(body)
        expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable })
        expect(errorMessage(error)).toContain(shown)
      }
    },
  )

  it('An error inside a stream is CONTENT_FILTERED when a filter blocked the prompt', async () => {
    const body = data({ error: { code: 'content_filter', message: 'x' } })
    expect(await fail(body)).toMatchObject({ code: 'CONTENT_FILTERED', retryable: false })
  })

  it('An error inside a stream lets a task try again', async () => {
    await using service = await startRawService([
      chunk({ role: 'assistant', content: 'Hel' }) + openRouter(502),
      chunk(CALL) + chunk(undefined, 'tool_calls') + DONE,
      chunk({ content: [{ type: 'text', text: 'done' }] }) + STOP,
    ])
    const inputs: unknown[] = []
    const tool = defineTool({
      name: 'echo',
      description: 'Repeats',
      input: { type: 'object', properties: { a: {} } },
      execute(input) {
        inputs.push(input)
        return 'ECHO'
      },
    })
    const model = modelAt(GPT, service.url)
    const work = task({ name: 't', description: 'Do it', tools: [tool] })
    const result = await ensemble({ name: 'e', model, tasks: [work] }).run()
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'done' })
    expect(inputs).toEqual([{ a: 1 }])
    expect(service.requests).toHaveLength(3)
  })
})

describe('usage of a chat completion', () => {
  const usage = (value: unknown): string => HI + chunk({}, 'stop', { usage: value }) + DONE

  it.each<readonly [form: string, body: string, expected: Fields | undefined]>([
    [
      'whole',
      usage({ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }),
      { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
    ],
    ['without output', usage({ prompt_tokens: 5 }), { inputTokens: 5, outputTokens: -1 }],
    ['without input', usage({ completion_tokens: 2 }), { inputTokens: -1, outputTokens: 2 }],
    [
      'with input and total',
      usage({ prompt_tokens: 5, total_tokens: 9 }),
      { inputTokens: 5, outputTokens: -1, totalTokens: 9 },
    ],
    [
      'with output and total',
      usage({ completion_tokens: 2, total_tokens: 9 }),
      { inputTokens: -1, outputTokens: 2, totalTokens: 9 },
    ],
    [
      'with only a total',
      usage({ total_tokens: 100 }),
      { inputTokens: -1, outputTokens: -1, totalTokens: 100 },
    ],
    [
      'with zeros, as of MiniMax',
      usage({ total_tokens: 0, total_characters: 0 }),
      { inputTokens: -1, outputTokens: -1, totalTokens: 0 },
    ],
    [
      'with zeros only',
      usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
      { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    ],
    [
      'with a fraction',
      usage({ prompt_tokens: 5.5, completion_tokens: 2 }),
      { inputTokens: -1, outputTokens: 2 },
    ],
    [
      'with a negative count',
      usage({ prompt_tokens: -5, completion_tokens: 2 }),
      { inputTokens: -1, outputTokens: 2 },
    ],
    [
      'with text',
      usage({ prompt_tokens: '5', completion_tokens: 2 }),
      { inputTokens: -1, outputTokens: 2 },
    ],
    [
      'with null',
      usage({ prompt_tokens: null, completion_tokens: 2 }),
      { inputTokens: -1, outputTokens: 2 },
    ],
    [
      'beyond safe integers',
      usage({ prompt_tokens: 2 ** 53, completion_tokens: 2 }),
      { inputTokens: -1, outputTokens: 2 },
    ],
    ['of 1e308', usage({ prompt_tokens: 1e308, completion_tokens: 1e308 }), undefined],
    ['as NaN in text', usage({ prompt_tokens: 'NaN', completion_tokens: 'NaN' }), undefined],
    ['as text', usage('7 tokens'), undefined],
    ['as a list', usage([5, 2]), undefined],
    ['as null', usage(null), undefined],
    [
      'with details of other types',
      usage({
        prompt_tokens: 5,
        completion_tokens: 2,
        prompt_tokens_details: 'x',
        completion_tokens_details: { reasoning_tokens: -1 },
      }),
      { inputTokens: 5, outputTokens: 2 },
    ],
    [
      'with cached tokens',
      usage({
        prompt_tokens: 9,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 4 },
      }),
      { inputTokens: 9, outputTokens: 2, cachedInputTokens: 4 },
    ],
    [
      'with cached tokens of DeepSeek',
      usage({
        prompt_tokens: 9,
        completion_tokens: 2,
        prompt_cache_hit_tokens: 4,
        prompt_cache_miss_tokens: 5,
      }),
      { inputTokens: 9, cachedInputTokens: 4, outputTokens: 2 },
    ],
    [
      'with more cached tokens than input',
      usage({ prompt_tokens: 9, completion_tokens: 2, cached_tokens: 40 }),
      { inputTokens: 9, cachedInputTokens: 40, outputTokens: 2 },
    ],
    [
      'with cache writes',
      usage({
        prompt_tokens: 9,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      }),
      { inputTokens: 9, outputTokens: 2, cachedInputTokens: 4, cacheWriteInputTokens: 3 },
    ],
    [
      'with cache writes of a proxy',
      usage({ prompt_tokens: 9, completion_tokens: 2, cache_creation_input_tokens: 3 }),
      { inputTokens: 9, outputTokens: 2, cacheWriteInputTokens: 3 },
    ],
    [
      'with reasoning',
      usage({
        prompt_tokens: 9,
        completion_tokens: 8,
        total_tokens: 17,
        completion_tokens_details: { reasoning_tokens: 6 },
      }),
      { inputTokens: 9, outputTokens: 8, totalTokens: 17, reasoningTokens: 6 },
    ],
    [
      'with reasoning beside the output, as of xAI',
      usage({
        prompt_tokens: 9,
        completion_tokens: 2,
        total_tokens: 17,
        completion_tokens_details: { reasoning_tokens: 6 },
      }),
      { inputTokens: 9, outputTokens: 8, totalTokens: 17, reasoningTokens: 6 },
    ],
    [
      'under the names of Anthropic',
      usage({ input_tokens: 9, output_tokens: 2 }),
      { inputTokens: 9, outputTokens: 2 },
    ],
    [
      'in every chunk, as of vLLM',
      chunk({ content: 'hi' }, null, { usage: { prompt_tokens: 5, completion_tokens: 1 } }) +
        chunk({}, 'stop', { usage: { prompt_tokens: 5, completion_tokens: 2 } }) +
        data({ ...base, choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } }) +
        DONE,
      { inputTokens: 5, outputTokens: 2 },
    ],
    [
      'split over chunks',
      chunk({ content: 'hi' }, null, { usage: { prompt_tokens: 5 } }) +
        chunk({}, 'stop', { usage: { completion_tokens: 2 } }) +
        DONE,
      { inputTokens: 5, outputTokens: 2 },
    ],
    [
      'in the choice, as of Moonshot',
      HI +
        data({
          ...base,
          choices: [
            {
              index: 0,
              delta: {},
              finish_reason: 'stop',
              usage: { prompt_tokens: 5, completion_tokens: 2 },
            },
          ],
        }) +
        DONE,
      { inputTokens: 5, outputTokens: 2 },
    ],
    [
      'in x_groq',
      HI +
        chunk({}, 'stop', { x_groq: { usage: { prompt_tokens: 5, completion_tokens: 2 } } }) +
        DONE,
      { inputTokens: 5, outputTokens: 2 },
    ],
    [
      'in a chunk before the finish reason',
      HI + data({ ...base, choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } }) + STOP,
      { inputTokens: 5, outputTokens: 2 },
    ],
    [
      'after zeros',
      chunk({ content: 'hi' }, null, { usage: { prompt_tokens: 0, completion_tokens: 0 } }) +
        chunk({}, 'stop', { usage: { prompt_tokens: 5, completion_tokens: 2 } }) +
        DONE,
      { inputTokens: 5, outputTokens: 2 },
    ],
  ])('The usage of a chat completion is read: %s', async (_form, body, expected) => {
    const { usage: found } = await read(body)
    expect(found).toEqual(expected)
  })

  it('Usage of a chat completion stops a run at its token budget when it has only a total', async () => {
    const body =
      chunk({ ...ROLE, ...CALL }) + chunk({}, 'tool_calls', { usage: { total_tokens: 100 } }) + DONE
    await using service = await startRawService([body])
    const tool = defineTool({
      name: 'echo',
      description: 'Repeats',
      input: { type: 'object', properties: { a: {} } },
      execute: () => 'ECHO',
    })
    const model = modelAt(GPT, service.url)
    const work = task({ name: 't', description: 'Do it', tools: [tool] })
    const result = await ensemble({ name: 'e', model, tasks: [work] }).run(
      {},
      { budget: { maxTokens: 250 } },
    )
    expect(result).toMatchObject({ error: { code: 'BUDGET_EXCEEDED' } })
    // Neither count is known, so the total of the run is not shown.
    expect(result.metrics.totalTokens).toBe(-1)
    expect(service.requests).toHaveLength(3)
  })
})

const event = (value: Fields): string => `event: ${String(value['type'])}\n${data(value)}`
const messageStart = (more: Fields = { usage: { input_tokens: 5, output_tokens: 1 } }): string =>
  event({
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'c',
      stop_reason: null,
      ...more,
    },
  })
const block = (index: number, content: unknown, ...deltas: readonly unknown[]): string =>
  [
    event({ type: 'content_block_start', index, content_block: content }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ].join('')
const text = (words: string, index = 0): string =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: words })
const json = (partial: unknown): Fields => ({ type: 'input_json_delta', partial_json: partial })
const use = (input: unknown, ...deltas: readonly unknown[]): string =>
  block(1, { type: 'tool_use', id: 'toolu_1', name: 'echo', input }, ...deltas)
const messageDelta = (reason: unknown, usage: unknown = { output_tokens: 2 }): string =>
  event({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage })
const messageStop = event({ type: 'message_stop' })
const ended = (reason: unknown): string => messageDelta(reason) + messageStop

describe('an answer of Anthropic is read', () => {
  const ONE = [['echo', '{"a":1}']]
  const server = block(
    0,
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    json('{"query":'),
    json('"x"}'),
  )
  const found = block(1, {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', title: 't', url: 'u', encrypted_content: 'e' }],
  })

  it.each<readonly [form: string, body: string, expected: Fields]>([
    [
      'a server tool',
      messageStart() + server + found + text('hi', 2) + ended('end_turn'),
      { text: 'hi', calls: [], finishReason: 'stop' },
    ],
    [
      'a server tool and a call',
      messageStart() +
        server +
        found +
        block(2, { type: 'tool_use', id: 'toolu_1', name: 'echo', input: {} }, json('{"a":1}')) +
        ended('tool_use'),
      { calls: ONE },
    ],
    [
      'citations',
      messageStart() +
        block(
          0,
          { type: 'text', text: '', citations: [] },
          { type: 'citations_delta', citation: { type: 'web_search_result_location', url: 'u' } },
          { type: 'text_delta', text: 'hi' },
        ) +
        ended('end_turn'),
      { text: 'hi' },
    ],
    [
      'an MCP tool of the service',
      messageStart() +
        block(
          0,
          { type: 'mcp_tool_use', id: 'm1', name: 'x', server_name: 's', input: {} },
          json('{}'),
        ) +
        block(1, { type: 'mcp_tool_result', tool_use_id: 'm1', content: [] }) +
        text('hi', 2) +
        ended('end_turn'),
      { text: 'hi', calls: [] },
    ],
    [
      'a code execution',
      messageStart() +
        block(
          0,
          { type: 'server_tool_use', id: 's', name: 'code_execution', input: {} },
          json('{"code":"1"}'),
        ) +
        block(1, { type: 'code_execution_tool_result', tool_use_id: 's', content: {} }) +
        text('hi', 2) +
        ended('end_turn'),
      { text: 'hi', calls: [] },
    ],
    [
      'an unknown block',
      messageStart() +
        block(0, { type: 'new_block', data: 1 }, { type: 'new_delta', data: 2 }) +
        text('hi', 1) +
        ended('end_turn'),
      { text: 'hi' },
    ],
    [
      'pause_turn',
      messageStart() + text('hi') + ended('pause_turn'),
      { text: 'hi', finishReason: 'length', providerFinishReason: 'pause_turn' },
    ],
    [
      'a message_start without usage',
      messageStart({}) + text('hi') + ended('end_turn'),
      { text: 'hi' },
    ],
    ['no message_start', text('hi') + ended('end_turn'), { text: 'hi' }],
    [
      'a message_start without a message',
      event({ type: 'message_start' }) + text('hi') + ended('end_turn'),
      { text: 'hi' },
    ],
    [
      'a stop reason in message_start',
      messageStart({ stop_reason: 'end_turn' }) + use({}, json('{"a":1}')) + ended('tool_use'),
      { calls: ONE },
    ],
    [
      'a message_delta without usage',
      messageStart() +
        text('hi') +
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) +
        messageStop,
      { text: 'hi' },
    ],
    [
      'a message_delta without a delta',
      messageStart() +
        text('hi') +
        event({ type: 'message_delta', usage: { output_tokens: 1 } }) +
        ended('end_turn'),
      { text: 'hi' },
    ],
    [
      'two message_delta',
      messageStart() + text('hi') + messageDelta(null) + ended('end_turn'),
      { text: 'hi', finishReason: 'stop' },
    ],
    [
      'message_stop without a stop reason after text',
      messageStart() + text('hi') + messageStop,
      { text: 'hi', finishReason: 'stop' },
    ],
    [
      'message_stop without a stop reason after a call',
      messageStart() + use({}, json('{"a":1}')) + messageStop,
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    [
      '[DONE] instead of message_stop',
      messageStart() + text('hi') + messageDelta('end_turn') + DONE,
      { text: 'hi' },
    ],
    [
      'a stop reason without message_stop',
      messageStart() + text('hi') + messageDelta('end_turn'),
      { text: 'hi' },
    ],
    [
      'a complete call without any end',
      messageStart() + use({}, json('{"a":1}')),
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    [
      'events without names',
      (messageStart() + text('hi') + ended('end_turn')).replaceAll(/event: .*\n/g, ''),
      { text: 'hi' },
    ],
    [
      'types only as names of events',
      (messageStart() + text('hi') + ended('end_turn')).replaceAll(
        /(data: \{)"type":"[a-z_]+",?/g,
        '$1',
      ),
      { text: 'hi' },
    ],
    [
      'input in the start of a block',
      messageStart() + use({ a: 1 }) + ended('tool_use'),
      { calls: ONE },
    ],
    [
      'input as text in the start of a block',
      messageStart() + use('{"a":1}') + ended('tool_use'),
      { calls: ONE },
    ],
    [
      'input in the start of a block and in deltas',
      messageStart() + use({ a: 1 }, json('{"a":1}')) + ended('tool_use'),
      { calls: ONE },
    ],
    [
      'input as an object in a delta',
      messageStart() + use({}, json({ a: 1 })) + ended('tool_use'),
      { calls: ONE },
    ],
    [
      'a call without input',
      messageStart() + use({}) + ended('tool_use'),
      { calls: [['echo', '{}']] },
    ],
    [
      'a call without an id',
      messageStart() +
        block(0, { type: 'tool_use', name: 'echo', input: {} }, json('{"a":1}')) +
        ended('tool_use'),
      { calls: ONE },
    ],
    [
      'end_turn for a call',
      messageStart() + use({}, json('{"a":1}')) + ended('end_turn'),
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    [
      'text beside a call',
      messageStart() + text('hi') + use({}, json('{"a":1}')) + ended('tool_use'),
      { text: 'hi', calls: ONE },
    ],
    [
      'text in the start of a block',
      messageStart() +
        block(0, { type: 'text', text: 'h' }, { type: 'text_delta', text: 'i' }) +
        ended('end_turn'),
      { text: 'hi' },
    ],
    [
      'a text block without text',
      messageStart() +
        block(0, { type: 'text' }, { type: 'text_delta', text: 'hi' }) +
        ended('end_turn'),
      { text: 'hi' },
    ],
    [
      'a delta without a type',
      messageStart() + block(0, { type: 'text', text: '' }, { text: 'hi' }) + ended('end_turn'),
      { text: 'hi' },
    ],
    [
      'events without an index',
      messageStart() +
        event({ type: 'content_block_start', content_block: { type: 'text', text: '' } }) +
        event({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'hi' } }) +
        ended('end_turn'),
      { text: 'hi' },
    ],
    [
      'thinking in the start of a block',
      messageStart() +
        block(
          0,
          { type: 'thinking', thinking: 'hm' },
          { type: 'signature_delta', signature: 's' },
        ) +
        text('hi', 1) +
        ended('end_turn'),
      { text: 'hi', reasoning: 'hm' },
    ],
    [
      'thinking without a field thinking',
      messageStart() +
        block(0, { type: 'thinking' }, { type: 'thinking_delta', thinking: 'hm' }) +
        text('hi', 1) +
        ended('end_turn'),
      { text: 'hi', reasoning: 'hm' },
    ],
    [
      'pings and null',
      `${messageStart()}event: ping\ndata: {"type": "ping"}\n\ndata: null\n\n${text('hi')}${ended('end_turn')}`,
      { text: 'hi' },
    ],
    ['a refusal', messageStart() + ended('refusal'), { text: '', finishReason: 'refusal' }],
    ['an empty answer', messageStart() + ended('end_turn'), { text: '', finishReason: 'stop' }],
  ])('An answer of Anthropic is read from a stream with %s', async (_form, body, expected) => {
    expect(await read(body, CLAUDE)).toMatchObject(expected)
  })

  const whole = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'c',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
      { type: 'text', text: 'hi' },
      { type: 'tool_use', id: 'toolu_1', name: 'echo', input: { a: 1 } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 2, cache_creation_input_tokens: 3 },
  }
  it.each([{}, { disableStreaming: true }])(
    'An answer of Anthropic is read from one JSON body, with the options %j',
    async (options) => {
      const answer = { body: JSON.stringify(whole), type: 'application/json' }
      expect(await read(answer, CLAUDE, options)).toMatchObject({
        text: 'hi',
        reasoning: 'hm',
        calls: ONE,
        finishReason: 'tool_calls',
        usage: { inputTokens: 8, outputTokens: 2, cacheWriteInputTokens: 3 },
        providerContent: {
          content: {
            blocks: expect.arrayContaining([{ type: 'thinking', thinking: 'hm', signature: 's' }]),
          },
        },
      })
    },
  )

  it('An answer of Anthropic is read from a connection that stays open after message_stop', async () => {
    const body = messageStart() + text('hi') + ended('end_turn')
    expect(await read({ body, staysOpen: true }, CLAUDE)).toMatchObject({ text: 'hi' })
  })
})

describe('an answer of Anthropic fails', () => {
  const errorOf = (error: unknown): string => event({ type: 'error', error })

  it.each<readonly [form: string, body: string, retryable: boolean, shown: string]>([
    [
      'after tool_use without a call',
      messageStart() + text('hi') + ended('tool_use'),
      true,
      'but sent none',
    ],
    ['after text without an end', messageStart() + text('hi'), true, 'cut off'],
    [
      'after an incomplete call',
      messageStart() + use({}, json('{"a":')) + messageStop,
      true,
      'cut off',
    ],
    ['after the start of a call', messageStart() + use({}), true, 'cut off'],
    ['after nothing', messageStart() + messageStop, true, 'cut off'],
    [
      'with overloaded_error',
      messageStart() + errorOf({ type: 'overloaded_error', message: 'Overloaded' }),
      true,
      'Overloaded',
    ],
    ['with api_error', messageStart() + errorOf({ type: 'api_error', message: 'x' }), true, 'x'],
    [
      'with an unknown error',
      messageStart() + errorOf({ type: 'new_error', message: 'x' }),
      true,
      'x',
    ],
    [
      'with invalid_request_error',
      messageStart() + errorOf({ type: 'invalid_request_error', message: 'x' }),
      false,
      'x',
    ],
    [
      'with an error of a proxy',
      messageStart() + data({ error: { code: 502, message: 'x' } }),
      true,
      '502 x',
    ],
    [
      'with the text of a proxy',
      `${messageStart()}data: upstream connect error\n\n`,
      true,
      'upstream connect error',
    ],
  ])('An answer of Anthropic fails %s', async (_form, body, retryable, shown) => {
    const error = await fail(body, CLAUDE)
    expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable })
    expect(errorMessage(error)).toContain(shown)
  })
})

describe('usage of Anthropic and compatible services', () => {
  const stream = (start: unknown, delta: unknown): string =>
    messageStart({ usage: start }) + text('hi') + messageDelta('end_turn', delta) + messageStop

  it.each<readonly [form: string, body: string, expected: Fields | undefined]>([
    [
      'of Anthropic',
      stream(
        {
          input_tokens: 25,
          cache_creation_input_tokens: 100,
          cache_read_input_tokens: 900,
          output_tokens: 1,
        },
        { output_tokens: 15 },
      ),
      { inputTokens: 1_025, outputTokens: 15, cachedInputTokens: 900, cacheWriteInputTokens: 100 },
    ],
    [
      'of Z.ai, in the last event',
      stream({ input_tokens: 0, output_tokens: 0 }, { input_tokens: 50, output_tokens: 9 }),
      { inputTokens: 50, outputTokens: 9 },
    ],
    [
      'in the last event only',
      stream(undefined, { input_tokens: 50, output_tokens: 9 }),
      { inputTokens: 50, outputTokens: 9 },
    ],
    [
      'in both events',
      stream({ input_tokens: 50, output_tokens: 1 }, { input_tokens: 50, output_tokens: 9 }),
      { inputTokens: 50, outputTokens: 9 },
    ],
    [
      'with a zero as placeholder later',
      stream({ input_tokens: 50, output_tokens: 1 }, { input_tokens: 0, output_tokens: 9 }),
      { inputTokens: 50, outputTokens: 9 },
    ],
    [
      'with server tools',
      stream(
        { input_tokens: 50, output_tokens: 1 },
        { input_tokens: 8_000, output_tokens: 9, server_tool_use: { web_search_requests: 1 } },
      ),
      { inputTokens: 8_000, outputTokens: 9 },
    ],
    [
      'split later',
      stream(
        { input_tokens: 1_000, output_tokens: 1 },
        { input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 9 },
      ),
      { inputTokens: 1_000, cachedInputTokens: 900, outputTokens: 9 },
    ],
    [
      'from the cache only',
      stream(
        { input_tokens: 1_000, output_tokens: 1 },
        { input_tokens: 0, cache_read_input_tokens: 1_000, output_tokens: 9 },
      ),
      { inputTokens: 1_000, cachedInputTokens: 1_000, outputTokens: 9 },
    ],
    [
      'repeated with its cache',
      stream(
        { input_tokens: 25, cache_read_input_tokens: 900, output_tokens: 1 },
        { input_tokens: 25, cache_read_input_tokens: 900, output_tokens: 9 },
      ),
      { inputTokens: 925, cachedInputTokens: 900, outputTokens: 9 },
    ],
    [
      'with cache writes by time',
      stream(
        {
          input_tokens: 25,
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
          output_tokens: 1,
        },
        { output_tokens: 9 },
      ),
      { inputTokens: 55, cacheWriteInputTokens: 30, outputTokens: 9 },
    ],
    [
      'with null',
      stream(
        { input_tokens: 25, cache_read_input_tokens: null, output_tokens: null },
        { output_tokens: 9 },
      ),
      { inputTokens: 25, outputTokens: 9 },
    ],
    [
      'with text',
      stream({ input_tokens: '25', output_tokens: 'x' }, { output_tokens: 9 }),
      { inputTokens: -1, outputTokens: 9 },
    ],
    [
      'with a fraction',
      stream({ input_tokens: 25.5, output_tokens: 1 }, { output_tokens: 9 }),
      { inputTokens: -1, outputTokens: 9 },
    ],
    [
      'with negative counts',
      stream({ input_tokens: -1, output_tokens: -1 }, { output_tokens: -9 }),
      undefined,
    ],
    ['as text', stream('x', 'y'), undefined],
    ['absent', stream(undefined, null), undefined],
    [
      'under the names of OpenAI',
      stream({}, { prompt_tokens: 25, completion_tokens: 9 }),
      { inputTokens: 25, outputTokens: 9 },
    ],
  ])('The usage %s is read', async (_form, body, expected) => {
    expect((await read(body, CLAUDE))['usage']).toEqual(expected)
  })
})

describe('an answer of OpenAI Responses', () => {
  const created = event({
    type: 'response.created',
    response: { id: 'r', model: 'm', status: 'in_progress', output: [] },
  })
  const item = (content: unknown, more: Fields = {}): Fields => ({
    id: 'msg',
    type: 'message',
    role: 'assistant',
    content,
    ...more,
  })
  const part = (words: string): Fields => ({ type: 'output_text', text: words, annotations: [] })
  const call = (args: unknown): Fields => ({
    id: 'fc',
    type: 'function_call',
    call_id: 'c',
    name: 'echo',
    arguments: args,
  })
  const added = (value: Fields): string =>
    event({ type: 'response.output_item.added', output_index: 0, item: value })
  const finished = (value: Fields): string =>
    event({ type: 'response.output_item.done', output_index: 0, item: value })
  const delta = (words: unknown): string =>
    event({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: words })
  const args = (value: unknown): string =>
    event({ type: 'response.function_call_arguments.delta', output_index: 0, delta: value })
  const completed = (output: unknown, more: Fields = {}): string =>
    event({
      type: 'response.completed',
      response: { id: 'r', status: 'completed', output, ...more },
    })
  const ONE = [['echo', '{"a":1}']]

  it.each<readonly [form: string, body: string, expected: Fields]>([
    [
      'deltas',
      created +
        added(item([])) +
        delta('hi') +
        finished(item([part('hi')])) +
        completed([item([part('hi')])]),
      { text: 'hi', finishReason: 'stop' },
    ],
    [
      'text only in done events',
      created +
        event({
          type: 'response.output_text.done',
          output_index: 0,
          content_index: 0,
          text: 'hi',
        }) +
        finished(item([part('hi')])) +
        completed([]),
      { text: 'hi' },
    ],
    [
      'text only in the done item',
      created + finished(item([part('hi')])) + completed([item([part('hi')])]),
      { text: 'hi' },
    ],
    ['text only in the whole answer', created + completed([item([part('hi')])]), { text: 'hi' }],
    [
      'a part without annotations',
      created + delta('hi') + completed([item([{ type: 'output_text', text: 'hi' }])]),
      { text: 'hi' },
    ],
    ['a whole answer without output', created + delta('hi') + completed(undefined), { text: 'hi' }],
    [
      'no response in the last event',
      created + delta('hi') + event({ type: 'response.completed' }),
      { text: 'hi', finishReason: 'stop' },
    ],
    [
      'response.done',
      created + delta('hi') + event({ type: 'response.done', response: { output: [] } }),
      { text: 'hi' },
    ],
    ['only [DONE]', created + delta('hi') + DONE, { text: 'hi', finishReason: 'stop' }],
    [
      'no names of events',
      (created + delta('hi') + completed([])).replaceAll(/event: .*\n/g, ''),
      { text: 'hi' },
    ],
    [
      'a call in deltas',
      created + added(call('')) + args('{"a":') + args('1}') + completed([call('{"a":1}')]),
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    [
      'arguments only in the done event',
      created +
        added(call('')) +
        event({
          type: 'response.function_call_arguments.done',
          output_index: 0,
          arguments: '{"a":1}',
        }) +
        completed([]),
      { calls: ONE },
    ],
    [
      'a call only in the done item',
      created + finished(call('{"a":1}')) + completed([]),
      { calls: ONE },
    ],
    ['a call only in the whole answer', created + completed([call('{"a":1}')]), { calls: ONE }],
    [
      'arguments as an object',
      created + finished(call({ a: 1 })) + completed([call({ a: 1 })]),
      { calls: ONE },
    ],
    [
      'a call without any end',
      created + added(call('')) + args('{"a":1}'),
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    [
      'text beside a call',
      created +
        delta('hi') +
        event({ type: 'response.output_item.done', output_index: 1, item: call('{"a":1}') }) +
        completed([]),
      { text: 'hi', calls: ONE },
    ],
    [
      'reasoning text of an open model',
      created +
        event({
          type: 'response.reasoning_text.delta',
          output_index: 0,
          content_index: 0,
          delta: 'hm',
        }) +
        event({
          type: 'response.output_text.delta',
          output_index: 1,
          content_index: 0,
          delta: 'hi',
        }) +
        completed([]),
      { text: 'hi', reasoning: 'hm' },
    ],
    [
      'usage without input',
      created + delta('hi') + completed([], { usage: { output_tokens: 3 } }),
      { usage: { inputTokens: -1, outputTokens: 3 } },
    ],
    [
      'usage of other types',
      created + delta('hi') + completed([], { usage: { input_tokens: '5', output_tokens: 1.5 } }),
      { text: 'hi', usage: undefined },
    ],
    [
      'cache writes',
      created +
        delta('hi') +
        completed([], {
          usage: {
            input_tokens: 9,
            output_tokens: 3,
            total_tokens: 12,
            input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
          },
        }),
      {
        usage: { inputTokens: 9, outputTokens: 3, cachedInputTokens: 4, cacheWriteInputTokens: 2 },
      },
    ],
    ['no usage', created + delta('hi') + completed([]), { usage: undefined }],
  ])(
    'An answer of OpenAI Responses is read from a stream with %s',
    async (_form, body, expected) => {
      expect(await read(body, RESPONSES)).toMatchObject(expected)
    },
  )

  it.each([{}, { disableStreaming: true }])(
    'An answer of OpenAI Responses is read from one JSON body, with the options %j',
    async (options) => {
      const body = JSON.stringify({
        id: 'r',
        status: 'completed',
        output: [item([{ type: 'output_text', text: 'hi' }])],
      })
      const answer = { body, type: 'application/json' }
      expect(await read(answer, RESPONSES, options)).toMatchObject({ text: 'hi' })
    },
  )

  it.each<readonly [form: string, body: string, retryable: boolean, shown: string]>([
    [
      'response.failed',
      created +
        event({
          type: 'response.failed',
          response: { error: { code: 'server_error', message: 'x' } },
        }),
      true,
      'x',
    ],
    [
      'response.failed with a fault of the request',
      created +
        event({
          type: 'response.failed',
          response: { error: { code: 'invalid_prompt', message: 'x' } },
        }),
      false,
      'x',
    ],
    [
      'an error event',
      created + event({ type: 'error', code: 'rate_limit_exceeded', message: 'x' }),
      true,
      'x',
    ],
    ['an error of a proxy', created + data({ error: { code: 502, message: 'x' } }), true, '502 x'],
    ['text without an end', created + delta('hi'), true, 'cut off'],
    [
      'an incomplete call and [DONE]',
      created + added(call('')) + args('{"a":') + DONE,
      true,
      'cut off',
    ],
  ])('An answer of OpenAI Responses fails after %s', async (_form, body, retryable, shown) => {
    const error = await fail(body, RESPONSES)
    expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable })
    expect(errorMessage(error)).toContain(shown)
  })
})

describe('an answer of Gemini', () => {
  const piece = (parts: unknown, more: Fields = {}, usage?: unknown): string =>
    data({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
      ...(usage === undefined ? {} : { usageMetadata: usage }),
    })
  const stop = { finishReason: 'STOP' }
  const hi = piece([{ text: 'hi' }])
  const functionCall = (args: unknown): string =>
    piece([{ functionCall: { name: 'echo', args } }], stop)
  const ONE = [['echo', '{"a":1}']]

  it.each<readonly [form: string, body: string, expected: Fields]>([
    ['text', hi + piece([], stop), { text: 'hi', finishReason: 'stop' }],
    ['a call', functionCall({ a: 1 }), { calls: ONE, finishReason: 'tool_calls' }],
    ['arguments as text', functionCall('{"a":1}'), { calls: ONE }],
    ['arguments null', functionCall(null), { calls: [['echo', '{}']] }],
    ['no arguments', functionCall(undefined), { calls: [['echo', '{}']] }],
    [
      'a complete call without a finish reason',
      piece([{ functionCall: { name: 'echo', args: { a: 1 } } }]),
      { calls: ONE, finishReason: 'tool_calls' },
    ],
    ['text beside a call', hi + functionCall({ a: 1 }), { text: 'hi', calls: ONE }],
    ['parts null', hi + piece(null, stop), { text: 'hi' }],
    ['null in parts', piece([null, { text: 'hi' }], stop), { text: 'hi' }],
    ['no content', hi + data({ candidates: [{ finishReason: 'STOP' }] }), { text: 'hi' }],
    ['candidates null', data({ candidates: null }) + hi + piece([], stop), { text: 'hi' }],
    [
      'an empty finish reason before the end',
      piece([{ text: 'hi' }], { finishReason: '' }) + piece([], stop),
      { text: 'hi' },
    ],
    [
      'a blocked prompt',
      data({ promptFeedback: { blockReason: 'SAFETY' } }),
      { finishReason: 'content_filter' },
    ],
    [
      'usage in every piece',
      piece([{ text: 'h' }], {}, { promptTokenCount: 5, candidatesTokenCount: 1 }) +
        piece([{ text: 'i' }], stop, { promptTokenCount: 5, candidatesTokenCount: 2 }),
      { usage: { inputTokens: 5, outputTokens: 2 } },
    ],
    [
      'thoughts',
      piece([{ text: 'hi' }], stop, {
        promptTokenCount: 5,
        candidatesTokenCount: 2,
        thoughtsTokenCount: 7,
        totalTokenCount: 14,
      }),
      { usage: { inputTokens: 5, outputTokens: 9, reasoningTokens: 7 } },
    ],
    [
      'cached tokens',
      piece([{ text: 'hi' }], stop, {
        promptTokenCount: 5,
        cachedContentTokenCount: 3,
        candidatesTokenCount: 2,
      }),
      { usage: { inputTokens: 5, outputTokens: 2, cachedInputTokens: 3 } },
    ],
    [
      'usage without output',
      piece([{ text: 'hi' }], stop, { promptTokenCount: 5 }),
      { usage: { inputTokens: 5, outputTokens: -1 } },
    ],
    [
      'usage of other types',
      piece([{ text: 'hi' }], stop, { promptTokenCount: '5', candidatesTokenCount: -2 }),
      { usage: undefined },
    ],
    [
      'usage in a piece of its own',
      hi +
        piece([], stop) +
        data({ usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 } }),
      { usage: { inputTokens: 5, outputTokens: 2 } },
    ],
  ])('An answer of Gemini is read from a stream with %s', async (_form, body, expected) => {
    expect(await read(body, GEMINI)).toMatchObject(expected)
  })

  it.each<readonly [form: string, body: string, retryable: boolean]>([
    [
      'an error with the code 503',
      hi + data({ error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }),
      true,
    ],
    [
      'an error with the code 400',
      hi + data({ error: { code: 400, status: 'INVALID_ARGUMENT', message: 'x' } }),
      false,
    ],
    ['the text of a proxy', `${hi}data: upstream connect error\n\n`, true],
    ['an event that is cut', `${hi}data: {"candidates"`, true],
    ['text without an end', hi, true],
    ['a malformed call', hi + piece([], { finishReason: 'MALFORMED_FUNCTION_CALL' }), true],
    ['a page', '<html>Please sign in</html>', true],
  ])('An answer of Gemini fails after %s', async (_form, body, retryable) => {
    expect(await fail(body, GEMINI)).toMatchObject({ code: 'MODEL_FAILED', retryable })
  })
})

describe('a body that is not an answer', () => {
  it('A body that is not an answer names the option for services that cannot stream', async () => {
    const error = await fail({ body: '{"result":"hi"}', type: 'application/json' })
    expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable: false })
    expect(errorMessage(error)).toContain('modelOptions: { disableStreaming: true }')
  })

  it('A body that is not an answer shows the text of a service that reports a problem as text', async () => {
    const error = await fail({ body: 'The service is overloaded', type: 'text/plain' })
    expect(error).toMatchObject({ code: 'MODEL_FAILED', retryable: true })
    expect(errorMessage(error)).toContain('not a stream of events: The service is overloaded')
  })
})

describe('models that the application creates read the same streams', () => {
  it.each(['chat completions', 'Anthropic', 'Groq'])(
    'A model that the application creates reads the same streams for %s',
    async (name) => {
      const body =
        name === 'Anthropic'
          ? messageStart({}) +
            text('hi') +
            use({ a: 1 }) +
            messageDelta('tool_use', { input_tokens: 50, output_tokens: 9 }) +
            messageStop
          : chunk({ content: [{ type: 'text', text: 'hi' }] }) +
            chunk(CALL) +
            chunk({}, 'tool_calls', { usage: { prompt_tokens: 50, completion_tokens: 9 } }) +
            DONE
      await using service = await startRawService([body])
      const { url } = service
      const made = {
        'chat completions': () =>
          new ChatOpenAI({ model: 'm', apiKey: KEY, configuration: { baseURL: `${url}/v1` } }),
        Anthropic: () => new ChatAnthropic({ model: 'm', apiKey: KEY, anthropicApiUrl: url }),
        Groq: () => new ChatGroq({ model: 'm', apiKey: KEY, baseUrl: url }),
      }[name]
      if (made === undefined) throw new Error(`No model for ${name}`)
      const { reply } = await ask(langchainModel(made()), WITH_TOOL)
      expect(reply).toMatchObject({
        text: 'hi',
        toolCalls: [{ name: 'echo', arguments: '{"a":1}' }],
        usage: { inputTokens: 50, outputTokens: 9 },
      })
    },
  )
})
