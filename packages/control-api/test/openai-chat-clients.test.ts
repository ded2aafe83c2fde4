/** Tests of chat completions with the client of `openai`. */
import OpenAI, { APIError, NotFoundError } from 'openai'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openChatServer, THOUGHT } from './chat-ensembles.ts'

import type { TestServer } from './open-server.ts'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources'

let api: TestServer
let client: OpenAI

const json = scriptedModel(() => '{"city":"Bonn"}', { provider: 'scripted' })
const thinking = scriptedModel(() => THOUGHT, { provider: 'scripted' })

beforeAll(async () => {
  api = await openChatServer({ json, thinking })
  client = new OpenAI({ baseURL: `${api.url}/v1`, apiKey: 'none', maxRetries: 0 })
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

const tools: ChatCompletionTool[] = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}))

async function collect<Item>(stream: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const item of stream) items.push(item)
  return items
}

const ask = (content: string): ChatCompletionMessageParam[] => [{ role: 'user', content }]

describe('a chat completion', () => {
  it('The OpenAI client lists and retrieves models', async () => {
    const ids = (await client.models.list()).data.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(['singer', 'echo']))
    expect(await client.models.retrieve('echo')).toMatchObject({ owned_by: 'scripted' })
    await expect(client.models.retrieve('ekko')).rejects.toThrow(NotFoundError)
  })

  it('[GW-K2] A chat completion answers a conversation with a model, with usage', async () => {
    const completion = await client.chat.completions.create({
      model: 'echo',
      messages: [
        { role: 'developer', content: 'Be brief' },
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: [{ type: 'text', text: 'Three {x}' }] },
      ],
      metadata: { app: 'test' },
      user: 'ann',
      temperature: 1,
    })
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: 'echo',
      choices: [{ message: { role: 'assistant', content: '4: Three {x}' }, finish_reason: 'stop' }],
    })
    const { prompt_tokens: input = 0, completion_tokens: output = 0 } = completion.usage ?? {}
    expect([input > 0, output > 0]).toEqual([true, true])
    expect(completion.usage?.total_tokens).toBe(input + output)
    const { tags } = await api.detail(completion.id.slice('chatcmpl-'.length))
    expect(tags).toEqual({ app: 'test' })
  })

  it('[GW-K2] A chat completion continues a conversation whose earlier message has an image', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } } as const
    const completion = await client.chat.completions.create({
      model: 'echo',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look' }, image] },
        { role: 'user', content: 'Ode' },
      ],
    })
    expect(completion.choices[0]?.message.content).toBe('2: Ode')
    const { request } = (await api.runs.record(completion.id.slice('chatcmpl-'.length))) ?? {}
    const content = 'Look\n[image_url left out: only text is supported]'
    expect(request?.history).toEqual([{ role: 'user', content }])
  })

  it('[GW-K10] A chat completion has the reasoning of the model in the field of other providers', async () => {
    const body = { model: 'thinking', messages: ask('Ode') }
    const { choices, usage } = await client.chat.completions.create(body)
    const expected = { content: THOUGHT.text, reasoning_content: THOUGHT.reasoning }
    expect(choices[0]?.message).toMatchObject(expected)
    expect(usage?.completion_tokens_details).toEqual({ reasoning_tokens: 7 })
    const stream = client.chat.completions.stream(body)
    const deltas: unknown[] = []
    stream.on('chunk', (chunk) => {
      for (const { delta } of chunk.choices) {
        if ('reasoning_content' in delta) deltas.push(delta.reasoning_content)
      }
    })
    expect(await stream.finalContent()).toBe(THOUGHT.text)
    expect(deltas.length).toBeGreaterThan(0)
    expect(deltas.join('')).toBe(THOUGHT.reasoning)
  })

  it('[GW-K10] A chat completion has no fields of reasoning when a model shows none', async () => {
    const body = { model: 'echo', messages: ask('Ode') }
    const { choices, usage } = await client.chat.completions.create(body)
    expect(choices[0]?.message).not.toHaveProperty('reasoning_content')
    expect(usage).not.toHaveProperty('completion_tokens_details')
  })

  it('[GW-K4] A chat completion streams the answer of an ensemble, with usage at the end', async () => {
    const stream = await client.chat.completions.create({
      model: 'singer',
      messages: ask('Ode'),
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await collect(stream)
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(text).toBe('La la la, here comes Ode, la la la')
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { total_tokens: expect.any(Number) },
    })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  it('[GW-K3][GW-K8] A chat completion calls tools of the client, and continues the run with their results', async () => {
    const first = await client.chat.completions.create({
      model: 'caller',
      messages: ask('Bonn?'),
      tools,
    })
    const [choice] = first.choices
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    const calls = choice?.message.tool_calls ?? []
    expect(calls).toMatchObject([
      { type: 'function', function: { name: 'weather', arguments: '{"city":"Bonn"}' } },
      { type: 'function', function: { name: 'time' } },
    ])
    const answers = calls.map(({ id }, place) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `result ${place}`,
    }))
    const messages = [...ask('Bonn?'), choice?.message ?? ask('')[0], ...answers].flatMap(
      (message) => message ?? [],
    )
    const second = await client.chat.completions.create({ model: 'caller', messages, tools })
    expect(second.id).toBe(`${first.id}-1`)
    expect(second.choices[0]?.message.content).toBe('result 0 and result 1')
    // [GW-K7] The same request gets the same completion.
    const again = await client.chat.completions.create({ model: 'caller', messages, tools })
    expect(again).toEqual(second)
  })

  it('[GW-K3] A chat completion runs the tools of the helper of the client, streamed', async () => {
    const runner = client.chat.completions.runTools({
      model: 'caller',
      messages: ask('Bonn?'),
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'Returns the weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
            parse: JSON.parse,
            function: ({ city }: { city: string }) => `rain in ${city}`,
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe('rain in Bonn')
  })

  /** Returns a completion that waits for the result of a call, and a conversation with the result. */
  async function waitForResult() {
    const first = await client.chat.completions.create({
      model: 'caller',
      messages: ask('Bonn?'),
      tools: tools.slice(0, 1),
    })
    const message = first.choices[0]?.message
    if (message === undefined) throw new TypeError('No message')
    const id = message.tool_calls?.[0]?.id ?? ''
    const answer = (content: string): ChatCompletionMessageParam[] => [
      ...ask('Bonn?'),
      message,
      { role: 'tool', tool_call_id: id, content },
    ]
    const runId = first.id.slice('chatcmpl-'.length)
    return { runId, answer, statusOf: async () => (await api.detail(runId)).status }
  }

  it.each([
    ['model', { model: 'echo' }, '3: Bonn?'],
    ['tools', { tools }, 'Sunny'],
    ['limit', { max_completion_tokens: 99 }, 'Sunny'],
    ['instructions', { start: [{ role: 'system' as const, content: 'Be B' }] }, 'Sunny'],
    ['question', { end: ask('And Rome?') }, 'Sunny'],
  ])(
    '[GW-G5] A chat completion begins a run for a result with another %s',
    async (_, change, text) => {
      const { start = [], end = [], ...settings } = { start: undefined, end: undefined, ...change }
      const { runId, answer, statusOf } = await waitForResult()
      const second = await client.chat.completions.create({
        model: 'caller',
        tools: tools.slice(0, 1),
        ...settings,
        messages: [...start, ...answer('Sunny'), ...end],
      })
      expect(second.id).not.toContain(runId)
      expect(second.choices[0]?.message.content ?? '').toContain(text)
      await expect.poll(statusOf).toBe('CANCELLED')
    },
  )

  it('[GW-G6] A chat completion begins a run for another result of an answered call', async () => {
    const { runId, answer, statusOf } = await waitForResult()
    const create = (result: string) =>
      client.chat.completions.create({
        model: 'caller',
        tools: tools.slice(0, 1),
        messages: answer(result),
      })
    const one = await create('ONE')
    const again = await create('ONE')
    const two = await create('TWO')
    const seen = [one, again, two].map(({ id, choices }) => [
      id === `chatcmpl-${runId}-1`,
      choices[0]?.message.content,
    ])
    expect(seen).toEqual([
      [true, 'ONE'],
      [true, 'ONE'],
      [false, 'TWO'],
    ])
    expect(await statusOf()).toBe('COMPLETED')
  })

  it('[GW-K8] A chat completion begins a new run when the run of a call has ended', async () => {
    const first = await client.chat.completions.create({
      model: 'caller',
      messages: ask('Bonn?'),
      tools,
    })
    const runId = first.id.slice('chatcmpl-'.length)
    await api.runs.send(runId, { kind: 'cancel' })
    await expect.poll(async () => (await api.detail(runId)).status).toBe('CANCELLED')
    const message = first.choices[0]?.message
    const answers = (message?.tool_calls ?? []).map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'late',
    }))
    const messages = [...ask('Bonn?'), ...(message === undefined ? [] : [message]), ...answers]
    const second = await client.chat.completions.create({ model: 'caller', messages, tools })
    expect(second.id).not.toContain(runId)
    expect(second.choices[0]?.message.content).toBe('late and late')
  })

  it('[GW-K4] A chat completion parses structured output', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    }
    const request = {
      model: 'json',
      messages: ask('Where?'),
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: 'place', schema, strict: true },
      },
    }
    const parsed = await client.chat.completions.parse(request)
    expect(parsed.choices[0]?.message.parsed).toEqual({ city: 'Bonn' })
    const streamed = client.chat.completions.stream(request)
    const final = await streamed.finalChatCompletion()
    expect(final.choices[0]?.message.parsed).toEqual({ city: 'Bonn' })
  })

  it.each([
    ['refuser', 'stop', { content: null, refusal: 'I do not sing this' }],
    ['filtered', 'content_filter', { content: '' }],
    // The model continues the answer three times, and is cut each time.
    ['cut', 'length', { content: 'La la'.repeat(4) }],
  ])(
    '[GW-K6] A chat completion ends with the reason of a model: %s',
    async (model, reason, message) => {
      const completion = await client.chat.completions.create({ model, messages: ask('Ode') })
      expect(completion.choices[0]).toMatchObject({ finish_reason: reason, message })
      const stream = client.chat.completions.stream({ model, messages: ask('Ode') })
      const final = await stream.finalChatCompletion().catch((error: unknown) => error)
      if (reason === 'stop') expect(final).toMatchObject({ choices: [{ message }] })
    },
  )

  it('[GW-K6][GW-K11] A chat completion answers a failed run as an error that clients do not repeat', async () => {
    const retrying = new OpenAI({ baseURL: `${api.url}/v1`, apiKey: 'none', maxRetries: 2 })
    const { total: before } = await api.runs.list({ ensemble: 'broken', limit: 1 })
    const failed = retrying.chat.completions.create({ model: 'broken', messages: ask('Ode') })
    const shape = { status: 400, code: 'model_failed', type: 'server_error' }
    await expect(failed).rejects.toMatchObject(shape)
    expect((await api.runs.list({ ensemble: 'broken', limit: 1 })).total).toBe(before + 1)
    const stream = await retrying.chat.completions.create({
      model: 'broken',
      messages: ask('Ode'),
      stream: true,
    })
    await expect(collect(stream)).rejects.toThrow(/The piano is out of tune/)
  })

  it('[GW-K6][GW-K11] A chat completion answers an exceeded budget with status 402', async () => {
    const failed = client.chat.completions.create({ model: 'spender', messages: ask('Ode') })
    const shape = { status: 402, code: 'budget_exceeded', type: 'insufficient_quota' }
    await expect(failed).rejects.toMatchObject(shape)
    const stream = await client.chat.completions.create({
      model: 'spender',
      messages: ask('Ode'),
      stream: true,
    })
    await expect(collect(stream)).rejects.toThrow(/maxTokens/)
  })

  it('[GW-K5][GW-K6] A chat completion waits for a reviewer, and answers a cancel as an error', async () => {
    const create = () => client.chat.completions.create({ model: 'choir', messages: ask('Ode') })
    const reviewOf = async () => {
      const find = async () => (await api.runs.reviews.open())[0]
      await expect.poll(find).toBeDefined()
      return find()
    }
    const waiting = create()
    const review = await reviewOf()
    const decision = { action: 'EDIT', revisedOutput: 'Lu lu' } as const
    const { reviewId = '', runId = '' } = review ?? {}
    await api.runs.send(runId, { kind: 'decide', reviewId, decision })
    expect((await waiting).choices[0]?.message.content).toBe('Lu lu')
    const cancelled = create()
    const other = await reviewOf()
    await api.runs.send(other?.runId ?? '', { kind: 'cancel' })
    await expect(cancelled).rejects.toMatchObject({ status: 400, code: 'cancelled' })
  })

  it('[GW-K9] A chat completion cancels the run of a client that leaves, except with an idempotency key', async () => {
    const runOf = async (headers: Record<string, string>) => {
      const gone = new AbortController()
      const options = { signal: gone.signal, headers }
      const stream = client.chat.completions
        .create({ model: 'choir', messages: ask('Ode'), stream: true }, options)
        .catch(() => undefined)
      const find = async () => (await api.runs.reviews.open())[0]?.runId
      await expect.poll(find).toBeDefined()
      const runId = (await find()) ?? ''
      gone.abort()
      await stream
      return runId
    }
    const left = await runOf({})
    await expect.poll(async () => (await api.detail(left)).status).toBe('CANCELLED')
    const key = { 'idempotency-key': 'chat-1' }
    const kept = await runOf(key)
    const again = client.chat.completions.create(
      { model: 'choir', messages: ask('Ode'), stream: true },
      { headers: key },
    )
    const [review] = await api.runs.reviews.open({ runId: kept })
    const { reviewId = '' } = review ?? {}
    const decision = { action: 'CONTINUE' } as const
    await api.runs.send(kept, { kind: 'decide', reviewId, decision })
    const [chunk] = await collect(await again)
    expect(chunk?.id).toBe(`chatcmpl-${kept}`)
  })

  it('[GW-K1] A chat completion accepts the defaults of settings that belong to the model catalog', async () => {
    const completion = await client.chat.completions.create({
      model: 'echo',
      messages: ask('Hi'),
      temperature: 1,
      top_p: 1,
      n: 1,
      reasoning_effort: null,
      presence_penalty: 0,
      frequency_penalty: 0,
      logit_bias: {},
      stop: [],
      modalities: ['text'],
      verbosity: 'low',
    })
    expect(completion.choices[0]?.message.content).toBe('1: Hi')
  })

  it('[GW-K1] A chat completion refuses every field that would change the answer, in the shape of OpenAI', async () => {
    const refused = client.chat.completions.create({
      model: 'echo',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }],
      temperature: 0,
      seed: 1,
    })
    const error = await refused.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' })
    const image = '/messages/0/content/0/type must be "text" or "refusal", got "image_url"'
    for (const part of [image, '/temperature must be 1', '/seed is not supported']) {
      expect(String(error)).toContain(part)
    }
    const empty = { model: 'echo', messages: ask('Ode'), web_search_options: {}, function_call: {} }
    const search = await client.post('/chat/completions', { body: empty }).catch(String)
    expect(search).toContain('/web_search_options is not supported')
    expect(search).toContain('/function_call is not supported')
    const ensemble = client.chat.completions.create({
      model: 'singer',
      messages: ask('Ode'),
      max_completion_tokens: 5,
    })
    await expect(ensemble).rejects.toThrow(/output token limit.*"singer" is an ensemble/)
  })
})
