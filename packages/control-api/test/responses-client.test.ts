/** Tests of the Responses API with the client of `openai`. */
import OpenAI, { APIError } from 'openai'
import { apiKey } from '@tutti/control-api'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createWaitingTool } from './a2a-agent.ts'
import { caller, chatEnsembles, echo, muse, THOUGHT } from './chat-ensembles.ts'
import { openServer, type TestServer } from './open-server.ts'

import type { Response, ResponseStreamEvent, Tool } from 'openai/resources/responses/responses'

const KEYS = {
  owner: 'the-key-of-the-owner-1234',
  writer: 'the-key-of-a-writer-12345',
}

let api: TestServer
const waiting = createWaitingTool()

function answering(name: string, reply: Parameters<typeof scriptedModel>[0]) {
  return scriptedModel(reply, { name, provider: 'scripted' })
}

beforeAll(async () => {
  const waiter = ensemble({
    name: 'waiter',
    tasks: [task({ name: 'wait', description: 'Wait {song}', tools: [waiting.tool] })],
    model: answering('waiter', ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? 'It was worth it'
        : { text: 'One moment', toolCalls: [{ name: 'wait', arguments: {} }] },
    ),
  })
  const capped = ensemble({
    name: 'capped',
    tasks: [
      task({ name: 'sing', description: 'Sing {song}', budget: { maxModelCalls: 1 }, retries: 0 }),
    ],
    budget: { maxToolCalls: 1, maxModelCalls: 1 },
    model: answering('capped', () => ({
      toolCalls: [{ name: 'nothing', arguments: {} }],
    })),
  })
  const models = modelCatalog({
    echo,
    caller,
    muse,
    thinking: answering('thinking', () => THOUGHT),
    json: answering('json', () => ({
      text: '{"city":"Bonn","degrees":7}',
      usage: { inputTokens: 100, outputTokens: 9, cachedInputTokens: 60 },
    })),
    short: answering('short', () => ({ text: 'Once upon', finishReason: 'length' })),
  })
  api = await openServer({
    ensembles: [...chatEnsembles(), waiter, capped],
    models,
    limits: { models },
    apiKeys: [
      apiKey(KEYS.owner, { name: 'owner', scopes: ['admin'] }),
      apiKey(KEYS.writer, { name: 'writer', scopes: ['runs:write'] }),
    ],
  })
})

afterAll(async () => {
  waiting.release()
  await api[Symbol.asyncDispose]()
})

function open(key = KEYS.owner): OpenAI {
  return new OpenAI({ baseURL: `${api.url}/v1`, apiKey: key, maxRetries: 0 })
}

async function all(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

async function errorOf(asking: Promise<unknown>): Promise<APIError> {
  const error: unknown = await asking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof APIError) return error
  throw new TypeError(`No APIError: ${JSON.stringify(error)}`)
}

/** Returns the end of a stream; its event has the whole response. */
function endOf(events: readonly ResponseStreamEvent[]): Response {
  const last = events.at(-1)
  if (last === undefined || !('response' in last)) throw new TypeError('The stream has no end')
  return last.response
}

const WEATHER: Tool = {
  type: 'function',
  name: 'get_weather',
  description: 'Returns the weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: true,
}

describe('a response of the Responses API', () => {
  it('A response of the Responses API is the answer of a catalog model, with the instructions as they are', async () => {
    const response = await open().responses.create({
      model: 'echo',
      input: 'Is {this} jazz?',
      instructions: 'You are terse',
      metadata: { team: 'harbor' },
      user: 'u-1',
    })
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      output_text: '2: Is {this} jazz?',
      instructions: 'You are terse',
      metadata: { team: 'harbor' },
      model: 'echo',
      error: null,
      incomplete_details: null,
      previous_response_id: null,
    })
    expect(response.output).toMatchObject([
      { type: 'message', role: 'assistant', status: 'completed', phase: 'final_answer' },
    ])
    expect(await open().responses.retrieve(response.id)).toEqual(response)
    const items = await all2(open().responses.inputItems.list(response.id))
    expect(items).toMatchObject([
      { role: 'user', content: [{ type: 'input_text', text: 'Is {this} jazz?' }] },
    ])
  })

  it('A response of the Responses API has every field that Open Responses requires, with a value of its type', async () => {
    const asked = {
      model: 'echo',
      input: 'Hi',
      tools: [{ type: 'function', name: 'tune' }],
      user: 'ann',
      prompt_cache_key: 'songs',
    }
    const response = await open().post('/responses', { body: asked })
    expect(response).toEqual({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      created_at: expect.any(Number),
      completed_at: expect.any(Number),
      status: 'completed',
      incomplete_details: null,
      model: 'echo',
      previous_response_id: null,
      instructions: null,
      output: [expect.objectContaining({ type: 'message', status: 'completed' })],
      error: null,
      tools: [
        { type: 'function', name: 'tune', description: null, parameters: null, strict: true },
      ],
      tool_choice: 'auto',
      truncation: 'disabled',
      parallel_tool_calls: true,
      text: { format: { type: 'text' } },
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      temperature: 1,
      reasoning: null,
      user: 'ann',
      usage: expect.objectContaining({ total_tokens: expect.any(Number) }),
      max_output_tokens: null,
      max_tool_calls: null,
      store: true,
      background: false,
      service_tier: 'default',
      metadata: {},
      safety_identifier: null,
      prompt_cache_key: 'songs',
      conversation: null,
    })
  })

  it('[GW-N4] A response of the Responses API is the output of an ensemble, with its inputs from the text', async () => {
    const response = await open().responses.create({ model: 'duo', input: 'Amen' })
    expect(response.status).toBe('completed')
    expect(response.output).toMatchObject([
      { phase: 'commentary', content: [{ text: 'One moment' }] },
      { phase: 'final_answer', content: [{ text: 'It was played' }] },
    ])
  })

  it('[GW-N4] A response of the Responses API has the items of its stream, at their indexes', async () => {
    const client = open()
    const stream = client.responses.stream({ model: 'duo', input: 'Ode' })
    const items: unknown[] = []
    stream.on('event', (event) => {
      if (event.type === 'response.output_item.done') items[event.output_index] = event.item
    })
    const response = await stream.finalResponse()
    const stored = await client.responses.retrieve(response.id)
    expect(items).toHaveLength(2)
    expect(stored.output).toEqual(items)
    expect(response.output_text).toBe(stored.output_text)
  })

  it('[GW-N10] A response of the Responses API cancels the run of a client that leaves without a way to find it', async () => {
    const client = open()
    const leave = async (headers: Record<string, string>) => {
      const gone = new AbortController()
      const options = { headers, signal: gone.signal }
      const { runs } = await api.runs.list({ ensemble: 'waiter', limit: 1 })
      const find = async () => (await api.runs.list({ ensemble: 'waiter', limit: 1 })).runs[0]
      const created = client.responses
        .create({ model: 'waiter', input: 'Ode' }, options)
        .catch(() => undefined)
      await expect.poll(async () => (await find())?.runId).not.toBe(runs[0]?.runId)
      const runId = (await find())?.runId ?? ''
      gone.abort()
      await created
      return async () => (await api.runs.record(runId))?.status
    }
    const kept = await leave({ 'idempotency-key': 'response-1' })
    const left = await leave({})
    await expect.poll(left).toBe('CANCELLED')
    expect(await kept()).toBe('RUNNING')
  })

  it('[GW-N17] A response of the Responses API takes references to items of earlier responses', async () => {
    const client = open()
    const first = await client.responses.create({ model: 'echo', input: 'One' })
    const [{ id = '' } = {}] = first.output
    const reference = { type: 'item_reference' as const, id }
    const next = await client.responses.create({
      model: 'echo',
      input: [{ role: 'user', content: 'One' }, reference, { role: 'user', content: 'Two' }],
    })
    expect(next.output_text).toBe('3: Two')
    const { data } = await client.responses.inputItems.list(next.id, { order: 'asc' })
    expect(data[1]).toMatchObject({ role: 'assistant', content: [{ text: '1: One' }] })
    const further = { model: 'echo', input: 'Three', previous_response_id: next.id }
    expect((await client.responses.create(further)).output_text).toBe('5: Three')
    const unknown = ['msg_none_0_0', 'fc_none', 'x', `${id}7`].map((one) => ({
      type: 'item_reference' as const,
      id: one,
    }))
    const error = await errorOf(
      client.responses.create({
        model: 'echo',
        input: [...unknown, { role: 'user', content: 'x' }],
      }),
    )
    expect([error.status, error.param]).toEqual([400, 'input[0].id'])
    expect(error.message.match(/refers to no item/g)).toHaveLength(4)
    const long = await client.responses.create({ model: 'echo', input: 'x'.repeat(200_000) })
    const many = Array.from({ length: 10 }, () => ({ ...reference, id: long.output[0]?.id ?? '' }))
    const large = await errorOf(
      client.responses.create({ model: 'echo', input: [...many, { role: 'user', content: 'x' }] }),
    )
    expect([large.status, large.param, large.message]).toEqual([
      400,
      'input',
      expect.stringContaining('1000000 bytes'),
    ])
    const writer = open(KEYS.writer)
    const foreign = writer.responses.create({
      model: 'echo',
      input: [reference, { role: 'user', content: 'What was it?' }],
    })
    expect((await errorOf(foreign)).status).toBe(403)
  })

  it('[GW-N12] A response of the Responses API continues the conversation of an earlier response', async () => {
    const client = open()
    const first = await client.responses.create({ model: 'echo', input: 'Hello' })
    const second = await client.responses.create({
      model: 'echo',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Again' }] }],
      previous_response_id: first.id,
    })
    expect(second.output_text).toBe('3: Again')
    expect(second.previous_response_id).toBe(first.id)
    const third = await client.responses.create({
      model: 'echo',
      input: 'And again',
      previous_response_id: second.id,
    })
    expect(third.output_text).toBe('5: And again')
  })

  it('[GW-N9] A response of the Responses API takes the conversation from its items', async () => {
    const response = await open().responses.create({
      model: 'echo',
      input: [
        { role: 'developer', content: 'Be kind' },
        { role: 'user', content: 'Weather?' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'rain' },
        { role: 'assistant', content: 'Rain' },
        { role: 'user', content: 'Thanks' },
      ],
    })
    expect(response.output_text).toBe('6: Thanks')
  })

  it('A response of the Responses API is parsed by its schema, with the usage and the cached tokens', async () => {
    const format = {
      type: 'json_schema',
      name: 'weather',
      schema: {
        type: 'object',
        properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
        required: ['city', 'degrees'],
        additionalProperties: false,
      },
      strict: true,
    } as const
    const response = await open().responses.parse({ model: 'json', input: 'x', text: { format } })
    expect(JSON.parse(response.output_text)).toEqual({ city: 'Bonn', degrees: 7 })
    expect(response.usage).toMatchObject({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 9,
      total_tokens: 109,
    })
  })
})

describe('a stream of the Responses API', () => {
  it('[GW-N2] A Responses stream has the events of the specification, which can be joined at any number', async () => {
    const client = open()
    const stream = client.responses.stream({ model: 'echo', input: 'Hello' })
    const events = await all(stream)
    expect(events.map(({ type }) => type).filter((type) => !type.endsWith('.delta'))).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_, at) => at))
    const final = await stream.finalResponse()
    expect(final.output_text).toBe('1: Hello')
    expect(endOf(events)).toMatchObject({ id: final.id, status: 'completed' })
    const options = { stream: true, starting_after: 3 } as const
    const later = await all(await client.responses.retrieve(final.id, options))
    expect(later).toEqual(plain(events).slice(4))
  })

  it('A background response can be joined late, and cancelled', async () => {
    const client = open()
    const response = await client.responses.create({
      model: 'waiter',
      input: 'Amen',
      background: true,
    })
    expect(['queued', 'in_progress']).toContain(response.status)
    const joined = await client.responses.retrieve(response.id, { stream: true })
    const seen: string[] = []
    for await (const event of joined) {
      seen.push(event.type)
      if (event.type === 'response.output_text.done') break
    }
    expect(seen.slice(0, 3)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
    ])
    const cancelled = await client.responses.cancel(response.id)
    expect(cancelled).toMatchObject({ status: 'cancelled', background: true })
    expect(await client.responses.cancel(response.id)).toEqual(cancelled)
    const events = await all(await client.responses.retrieve(response.id, { stream: true }))
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'cancelled' },
    })
    await client.responses.delete(response.id)
    expect((await errorOf(client.responses.retrieve(response.id))).status).toBe(404)
  })
})

describe('a function call of the Responses API', () => {
  it('[GW-N8] A function call of the Responses API pauses the run until its output comes, with previous_response_id', async () => {
    const client = open()
    const first = await client.responses.create({
      model: 'caller',
      input: 'Weather?',
      tools: [WEATHER],
    })
    expect(first.status).toBe('completed')
    const [call] = first.output
    if (call?.type !== 'function_call') throw new TypeError('No call')
    expect(call).toMatchObject({ name: 'get_weather', arguments: '{"city":"Bonn"}' })
    const missing = await errorOf(
      client.responses.create({ model: 'caller', input: [], previous_response_id: first.id }),
    )
    expect([missing.status, missing.param]).toEqual([400, 'input'])
    expect(missing.message).toContain(`must have an output for ${call.call_id} (get_weather)`)
    const wrong = await errorOf(
      client.responses.create({
        model: 'caller',
        input: [{ type: 'function_call_output', call_id: 'call_other', output: 'x' }],
        previous_response_id: first.id,
      }),
    )
    expect(wrong.message).toContain(`call_other is not open; open: ${call.call_id}`)
    const answer = {
      model: 'caller',
      input: [{ type: 'function_call_output', call_id: call.call_id, output: '7 degrees' }],
      previous_response_id: first.id,
      tools: [WEATHER],
    } satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming
    const second = await client.responses.create(answer)
    expect(second).toMatchObject({
      id: `${first.id}_1`,
      status: 'completed',
      output_text: '7 degrees',
      previous_response_id: first.id,
    })
    expect(await client.responses.create(answer)).toEqual(second)
    const items = await all2(client.responses.inputItems.list(second.id))
    expect(items).toMatchObject([
      { type: 'function_call_output', call_id: call.call_id, output: '7 degrees' },
    ])
    const third = await client.responses.create({
      model: 'echo',
      input: 'Thanks',
      previous_response_id: second.id,
    })
    // The question, the call, its output and the answer came before.
    expect(third.output_text).toBe('5: Thanks')
    const { request } = (await api.runs.record(third.id.slice('resp_'.length))) ?? {}
    expect(request?.history).toMatchObject([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', toolCalls: [{ id: call.call_id, name: 'get_weather' }] },
      { role: 'tool', toolCallId: call.call_id, content: '7 degrees' },
      { role: 'assistant', content: '7 degrees' },
    ])
    const branch = await errorOf(
      client.responses.create({ model: 'echo', input: 'x', previous_response_id: first.id }),
    )
    expect(branch.message).toContain(`must be the newest response of its run, "${second.id}"`)
  })

  it("A function call of the Responses API continues from the client's items alone, streamed, with store: false", async () => {
    const client = open()
    const settings = { model: 'caller', tools: [WEATHER], store: false }
    const question = { role: 'user' as const, content: 'Weather?' }
    const first = await client.responses.create({ ...settings, input: [question] })
    const outputs = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output', call_id: item.call_id, output: 'sun' } as const]
        : [],
    )
    expect((await errorOf(client.responses.retrieve(first.id))).status).toBe(404)
    const stream = client.responses.stream({
      ...settings,
      input: [
        question,
        ...first.output.filter((item) => item.type === 'function_call'),
        ...outputs,
      ],
    })
    const events = await all(stream)
    expect(events[0]).toMatchObject({ type: 'response.created', sequence_number: 0 })
    expect((await stream.finalResponse()).output_text).toBe('sun')
  })

  /** Returns a response that waits for the output of a call, and the output. */
  async function waitForOutput(client: OpenAI) {
    const question = { role: 'user', content: 'Weather?' } as const
    const body = { model: 'caller', input: [question], tools: [WEATHER] }
    const first = await client.responses.create(body)
    const [call] = first.output
    if (call?.type !== 'function_call') throw new TypeError('No call')
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'Sun' } as const
    const runId = first.id.slice('resp_'.length)
    const statusOf = async () => (await api.runs.record(runId))?.status
    return { first, call, question, output, runId, statusOf }
  }

  it.each([
    ['instructions', { instructions: 'Other' }, 'Sun'],
    ['the model', { model: 'echo' }, '3: Weather?'],
    ['the tools', { tools: [{ ...WEATHER, name: 'other' }] }, 'Sun'],
  ])(
    '[GW-G5] A function call of the Responses API begins a run with the history when its output changes %s',
    async (_, change, text) => {
      const client = open()
      const { first, call, question, output, runId, statusOf } = await waitForOutput(client)
      const settings = { model: 'caller', tools: [WEATHER], ...change }
      const second = await client.responses.create({
        ...settings,
        input: [output],
        previous_response_id: first.id,
      })
      expect(second.output_text).toBe(text)
      expect(second.id).not.toContain(runId)
      expect(second.previous_response_id).toBe(first.id)
      await expect.poll(statusOf).toBe('CANCELLED')
      const { request, inputs } = (await api.runs.record(second.id.slice('resp_'.length))) ?? {}
      expect(inputs).toEqual({ message: 'Weather?' })
      const history = [
        { role: 'assistant', toolCalls: [{ id: call.call_id, name: 'get_weather' }] },
        { role: 'tool', toolCallId: call.call_id, content: 'Sun' },
      ]
      expect(request?.history).toMatchObject(history)
      const other = await waitForOutput(client)
      const whole = await client.responses.create({
        ...settings,
        input: [question, other.call, other.output],
      })
      expect(whole.output_text).toBe(text)
      expect(whole.id).not.toContain(other.runId)
      await expect.poll(other.statusOf).toBe('CANCELLED')
      const thanks = await client.responses.create({
        model: 'echo',
        input: 'Thanks',
        previous_response_id: second.id,
      })
      expect(thanks.output_text).toBe('5: Thanks')
    },
  )

  it('[GW-G5] A function call of the Responses API begins a run when a message of the user follows its output', async () => {
    const client = open()
    const { first, output, statusOf } = await waitForOutput(client)
    const message = { role: 'user', content: 'And Rome?' } as const
    const second = await client.responses.create({
      model: 'echo',
      input: [output, message],
      previous_response_id: first.id,
    })
    // The question, the call and its output came before.
    expect(second.output_text).toBe('4: And Rome?')
    await expect.poll(statusOf).toBe('CANCELLED')
  })

  it('[GW-G6] A function call of the Responses API begins a run for another output of an answered call', async () => {
    const client = open()
    const { first, output, runId, statusOf } = await waitForOutput(client)
    const settings = { model: 'caller', tools: [WEATHER], previous_response_id: first.id }
    const one = await client.responses.create({ ...settings, input: [output] })
    expect(await client.responses.create({ ...settings, input: [output] })).toEqual(one)
    const other = { ...output, output: 'Rain' }
    const two = await client.responses.create({ ...settings, input: [other] })
    expect([one.output_text, two.output_text]).toEqual(['Sun', 'Rain'])
    expect([one.id.includes(runId), two.id.includes(runId)]).toEqual([true, false])
    expect(await statusOf()).toBe('COMPLETED')
  })

  it('[GW-N8] A function call of the Responses API names outputs without a call', async () => {
    const output = { type: 'function_call_output', call_id: 'call_x', output: 'Sun' } as const
    const input = [{ role: 'user', content: 'Weather?' } as const, output]
    const error = await errorOf(open().responses.create({ model: 'caller', input }))
    expect([error.status, error.param]).toEqual([400, 'input[1]'])
    expect(error.message).toContain('is for no call of the conversation, got "call_x"')
  })
})

describe('an approval request of the Responses API', () => {
  it('[GW-N8] An approval request of the Responses API refuses its decision with other instructions', async () => {
    const client = open()
    const first = await client.responses.create({ model: 'choir', input: 'Amen' })
    const id = first.output.find(({ type }) => type === 'mcp_approval_request')?.id ?? ''
    const answer = {
      type: 'mcp_approval_response',
      approval_request_id: id,
      approve: true,
    } as const
    const body = { model: 'choir', input: [answer], previous_response_id: first.id }
    const error = await errorOf(client.responses.create({ ...body, instructions: 'Be loud' }))
    expect([error.status, error.param]).toEqual([400, 'instructions'])
    const second = await client.responses.create(body)
    expect(second.id).toBe(`${first.id}_1`)
  })

  it('[GW-N5] An approval request of the Responses API is a review of a tool call', async () => {
    const client = open()
    const first = await client.responses.create({ model: 'soloist', input: 'Amen' })
    const [request] = first.output
    if (request?.type !== 'mcp_approval_request') throw new TypeError('No request')
    expect(request).toMatchObject({ name: 'tune', arguments: '{"hertz":440}' })
    const second = await client.responses.create({
      model: 'soloist',
      input: [{ type: 'mcp_approval_response', approval_request_id: request.id, approve: true }],
      previous_response_id: first.id,
    })
    expect(second.output_text).toBe('Tuned to 440')
  })

  it('[GW-N4] An approval request of the Responses API can be a review of the output, which the last response repeats', async () => {
    const client = open()
    const first = await client.responses.create({ model: 'choir', input: 'Amen' })
    expect(first.output_text).toBe('La la')
    const request = first.output.at(-1)
    if (request?.type !== 'mcp_approval_request') throw new TypeError('No request')
    expect(JSON.parse(request.arguments)).toMatchObject({
      question: 'Is it in tune?',
      output: 'La la',
    })
    const approve = { type: 'mcp_approval_response', approval_request_id: request.id } as const
    const second = await client.responses.create({
      model: 'choir',
      input: [{ ...approve, approve: true }],
      previous_response_id: first.id,
    })
    expect(second.output_text).toBe('La la')
  })

  it('An approval request of the Responses API takes the answer to a question of a tool as its reason', async () => {
    const client = open()
    const first = await client.responses.create({ model: 'asker', input: 'Amen' })
    const [request] = first.output
    if (request?.type !== 'mcp_approval_request') throw new TypeError('No request')
    const answer = { approval_request_id: request.id, approve: true, reason: 'C major' }
    const second = await client.responses.create({
      model: 'asker',
      input: [{ type: 'mcp_approval_response', ...answer }],
      previous_response_id: first.id,
    })
    expect(second.output_text).toBe('You said C major')
  })
})

describe('[GW-N6] the end of a response', () => {
  it.each([
    [
      'refuser',
      {
        status: 'completed',
        output: [{ content: [{ type: 'refusal', refusal: 'I do not sing this' }] }],
      },
    ],
    ['filtered', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
    [
      'broken',
      {
        status: 'failed',
        error: { code: 'server_error', message: expect.stringContaining('out of tune') },
      },
    ],
    [
      'capped',
      {
        status: 'failed',
        error: { code: 'rate_limit_exceeded', message: expect.stringContaining('maxModelCalls') },
      },
    ],
  ])('The end of a response (%s) shows how its run ended', async (model, response) => {
    const client = open()
    expect(await client.responses.create({ model, input: 'Amen' })).toMatchObject(response)
    const stream = await client.responses.create({ model, input: 'Amen', stream: true })
    const events = await all(stream)
    expect(endOf(events)).toMatchObject(response)
    expect(events.at(-1)?.type).toBe(`response.${response.status}`)
  })

  it('A response whose model exceeds max_output_tokens is incomplete, with the text so far', async () => {
    const response = await open().responses.create({
      model: 'short',
      input: 'Tell',
      max_output_tokens: 16,
    })
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output_text: 'Once upon',
      max_output_tokens: 16,
    })
  })
})

/** Returns the items of a response that this server makes, for the input of another one. */
function toInput({ output }: Response) {
  return output.flatMap((item) =>
    item.type === 'reasoning' || item.type === 'message' || item.type === 'function_call'
      ? [item]
      : [],
  )
}

describe('the reasoning of a response', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const weather: Tool = { name: 'weather', type: 'function', parameters, strict: false }

  it('[GW-N19] The reasoning of a response is an item with a summary before the message, also in a stream', async () => {
    const stream = open().responses.stream({ model: 'thinking', input: 'Ode' })
    const deltas: string[] = []
    stream.on('response.reasoning_summary_text.delta', ({ delta }) => deltas.push(delta))
    const streamed = await stream.finalResponse()
    expect(deltas.length).toBeGreaterThan(0)
    expect(deltas.join('')).toBe(THOUGHT.reasoning)
    const created = await open().responses.create({ model: 'thinking', input: 'Ode' })
    for (const { output, output_text: text, usage } of [streamed, created]) {
      expect(text).toBe(THOUGHT.text)
      expect(output).toMatchObject([
        {
          type: 'reasoning',
          status: 'completed',
          summary: [{ type: 'summary_text', text: THOUGHT.reasoning }],
        },
        { type: 'message' },
      ])
      expect(usage?.output_tokens_details.reasoning_tokens).toBe(7)
      expect(usage?.output_tokens).toBeGreaterThanOrEqual(7)
    }
  })

  it('[GW-N9] The reasoning of a response can be sent back with the output of a tool, and in a conversation', async () => {
    const asked = await open().responses.create({ model: 'muse', input: 'Hi', tools: [weather] })
    expect(asked.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
    const call = asked.output.find((item) => item.type === 'function_call')
    const outputs = [
      { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'Sunny' } as const,
    ]
    const input = [{ role: 'user', content: 'Hi' } as const, ...toInput(asked), ...outputs]
    const answered = await open().responses.create({ model: 'muse', input, tools: [weather] })
    expect(answered.output_text).toBe(THOUGHT.text)
    const said = [...input, ...toInput(answered), { role: 'user', content: 'Again' } as const]
    const last = await open().responses.create({ model: 'echo', input: said })
    expect(last.output_text).toContain('Again')
  })
})

describe('a parameter of the Responses API', () => {
  it.each([
    { temperature: 1, top_p: 1 },
    { temperature: null, top_p: null, reasoning: null },
    { reasoning: { effort: null, summary: null } },
    { reasoning: { summary: 'auto' } },
    { reasoning: { effort: 'low' }, text: { verbosity: 'low' } },
    { reasoning: {}, service_tier: 'auto', truncation: 'disabled', top_logprobs: 0 },
  ] as const)(
    '[GW-N7][GW-N18] A parameter of the Responses API that has its default, or is a preference, changes nothing: %j',
    async (more) => {
      const response = await open().responses.create({ model: 'echo', input: 'Hi', ...more })
      expect(response.output_text).toBe('1: Hi')
      expect([response.temperature, response.top_p]).toEqual([1, 1])
    },
  )
})

describe('an error of the Responses API', () => {
  it.each([
    ['model', { model: 'ecko' }, 404],
    ['temperature', { temperature: 0.5 }, 400],
    ['top_p', { top_p: 0.5 }, 400],
    ['tools[0].type', { tools: [{ type: 'web_search' }] }, 400],
    ['tool_choice', { tool_choice: 'required' }, 400],
    ['parallel_tool_calls', { parallel_tool_calls: false }, 400],
    ['reasoning.summary', { reasoning: { effort: 'low', summary: 'detailed' } }, 400],
    ['reasoning', { reasoning: 'low' }, 400],
    ['text.verbosity', { text: { verbosity: 'long' } }, 400],
    ['truncation', { truncation: 'auto' }, 400],
    ['include[0]', { include: ['message.output_text.logprobs'] }, 400],
    ['text.format.schema', { text: { format: { type: 'json_schema', name: 'x' } } }, 400],
    ['previous_response_id', { previous_response_id: 'resp_run-none' }, 400],
    ['max_output_tokens', { model: 'duo', max_output_tokens: 5 }, 400],
    ['input', { input: [{ role: 'assistant', content: 'x' }] }, 400],
    [
      'input[0].content[0].type',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] },
      400,
    ],
    ['prompts', { prompts: 1 }, 400],
  ])('[GW-N7] An error of the Responses API names %s', async (param, change, status) => {
    const body = { model: 'echo', input: 'x', ...change }
    const error = await errorOf(open().post('/responses', { body }))
    expect([error.status, error.param]).toEqual([status, param])
  })

  it('[GW-N11] An error of the Responses API is returned to a key that may not read the response', async () => {
    const stored = await open().responses.create({ model: 'echo', input: 'Secret' })
    const writer = open(KEYS.writer)
    expect((await errorOf(writer.responses.retrieve(stored.id))).status).toBe(403)
    expect((await errorOf(writer.responses.cancel(stored.id))).status).toBe(403)
    expect(
      (await errorOf(writer.responses.inputItems.list(stored.id).then((page) => page))).status,
    ).toBe(403)
    const asked = { model: 'echo', input: 'What was it?' }
    const error = await errorOf(
      writer.responses.create({ ...asked, previous_response_id: stored.id }),
    )
    expect(error.status).toBe(403)
    const waiting = await open().responses.create({
      model: 'caller',
      input: 'Secret',
      tools: [WEATHER],
    })
    const [call] = waiting.output
    const id = call?.type === 'function_call' ? call.call_id : ''
    const output = { type: 'function_call_output', call_id: id, output: 'Rain' } as const
    for (const previous of [null, waiting.id]) {
      const answer = { model: 'caller', input: [output], previous_response_id: previous }
      expect((await errorOf(writer.responses.create(answer))).status).toBe(403)
    }
    const own = await writer.responses.create(asked)
    const next = await writer.responses.create({ ...asked, previous_response_id: own.id })
    expect(next.output_text).toBe('3: What was it?')
  })

  it('An error of the Responses API is returned for runs that the API did not begin', async () => {
    const run = await api.runs.submit({ ensemble: 'duo', inputs: { song: 'x' } })
    expect((await errorOf(open().responses.retrieve(`resp_${run.runId}`))).status).toBe(404)
    expect((await errorOf(open().responses.retrieve('resp_x'))).status).toBe(404)
  })
})

/** Returns events as JSON, without what the client adds to them. */
function plain(events: readonly ResponseStreamEvent[]): ResponseStreamEvent[] {
  return events.map((event) => {
    const { parsed_arguments: _, snapshot: __, ...rest } = JSON.parse(JSON.stringify(event))
    return rest
  })
}

async function all2<T>(page: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of page) found.push(item)
  return found
}
