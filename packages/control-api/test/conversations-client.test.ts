/** Tests of OpenAI's conversations with the client of `openai`. */
import OpenAI, { APIError } from 'openai'
import { apiKey } from '@tutti/control-api'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { caller, chatEnsembles, echo } from './chat-ensembles.ts'
import { openServer, type TestServer } from './open-server.ts'

import type { ConversationItem } from 'openai/resources/conversations/items'
import type { Tool } from 'openai/resources/responses/responses'

const KEYS = {
  owner: 'the-key-of-the-owner-1234',
  writer: 'the-key-of-a-writer-12345',
  reader: 'the-key-of-a-reader-12345',
}

let api: TestServer

beforeAll(async () => {
  const failing = scriptedModel(() => new Error('Out of tune'), { provider: 'scripted' })
  const models = modelCatalog({ echo, caller, failing })
  const plain = ensemble({
    name: 'plain',
    tasks: [task({ name: 'talk', description: 'Talk to the user' })],
    model: echo,
  })
  api = await openServer({
    ensembles: [...chatEnsembles(), plain],
    models,
    limits: { models },
    apiKeys: [
      apiKey(KEYS.owner, { name: 'owner', scopes: ['admin'] }),
      apiKey(KEYS.writer, { name: 'writer', scopes: ['runs:write'] }),
      apiKey(KEYS.reader, { name: 'reader', scopes: ['runs:read', 'runs:write'] }),
    ],
  })
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

function open(key = KEYS.owner): OpenAI {
  return new OpenAI({ baseURL: `${api.url}/v1`, apiKey: key, maxRetries: 0 })
}

async function errorOf(asking: Promise<unknown>): Promise<APIError> {
  const error: unknown = await asking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof APIError) return error
  throw new TypeError(`No APIError: ${JSON.stringify(error)}`)
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Returns the texts of messages. */
function texts(items: readonly ConversationItem[]): string[] {
  return items.map((item) => {
    const [part] = item.type === 'message' ? item.content : []
    return part !== undefined && 'text' in part ? part.text : item.type
  })
}

const WEATHER: Tool = {
  type: 'function',
  name: 'get_weather',
  description: 'Returns the weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: true,
}

describe('a conversation of the Responses API', () => {
  it('[GW-N13][GW-N14] A conversation of the Responses API is a thread, whose next run gets the earlier messages', async () => {
    const client = open()
    const { id, metadata } = await client.conversations.create({ metadata: { topic: 'weather' } })
    expect(metadata).toEqual({ topic: 'weather' })
    expect(await client.conversations.retrieve(id)).toMatchObject({ id, object: 'conversation' })
    const first = await client.responses.create({ model: 'echo', input: 'One', conversation: id })
    expect([first.output_text, first.conversation]).toEqual(['1: One', { id }])
    const second = await client.responses.create({
      model: 'singer',
      input: [{ role: 'user', content: 'Ode' }],
      conversation: { id },
      stream: true,
    })
    const end = (await all(second)).at(-1)
    expect(end).toMatchObject({ response: { conversation: { id } } })
    const third = await client.responses.create({ model: 'echo', input: 'Two', conversation: id })
    expect(third.output_text).toBe('5: Two')
    const threadId = id.slice('conv_'.length)
    const { runs } = await api.runs.threads.runs({ threadId, limit: 9, maxBytes: 9_999 })
    expect(runs.map(({ userMessage }) => userMessage)).toEqual(['Two', 'Ode', 'One'])
    const next = { model: 'echo', input: 'Three', previous_response_id: third.id }
    expect((await client.responses.create(next)).output_text).toBe('7: Three')
  })

  it('[GW-N13] A conversation of the Responses API is locked while its newest run waits, which outputs continue', async () => {
    const client = open()
    const { id: conversation } = await client.conversations.create({})
    const ask = { model: 'caller', input: 'Weather?', tools: [WEATHER], conversation }
    const first = await client.responses.create(ask)
    const locked = await errorOf(client.responses.create(ask))
    expect([locked.status, locked.code, locked.param]).toEqual([
      409,
      'conversation_locked',
      'conversation',
    ])
    const [call] = first.output
    if (call?.type !== 'function_call') throw new TypeError('No call')
    const second = await client.responses.create({
      ...ask,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: '7 degrees' }],
    })
    expect([second.output_text, second.conversation]).toEqual(['7 degrees', { id: conversation }])
  })

  it.each([
    ['conversation', 404, { conversation: 'conv_none' }],
    ['conversation', 404, { conversation: { id: 'thread' } }],
    ['conversation', 400, { previous_response_id: 'resp_run-1' }],
    ['model', 400, { model: 'plain' }],
    [
      'input',
      400,
      {
        input: [
          { role: 'assistant', content: 'Hi' },
          { role: 'user', content: 'x' },
        ],
      },
    ],
  ])(
    '[GW-N13] A conversation of the Responses API refuses a request by its %s with status %i: %j',
    async (param, status, change) => {
      const client = open()
      const { id: conversation } = await client.conversations.create({})
      const body = { model: 'echo', input: 'x', conversation, ...change }
      const error = await errorOf(client.post('/responses', { body }))
      expect([error.status, error.param]).toEqual([status, param])
    },
  )

  it('[GW-N14] A conversation of the Responses API that does not exist, or would begin with items, is refused', async () => {
    const client = open()
    const calls = [
      client.conversations.retrieve('conv_none'),
      client.conversations.retrieve('thread'),
      client.conversations.update('conv_none', { metadata: {} }),
      client.conversations.delete('conv_none'),
      client.conversations.items.list('conv_none'),
      client.conversations.items.retrieve('msg_none_1_user', { conversation_id: 'conv_none' }),
    ]
    const errors = await Promise.all(calls.map(errorOf))
    expect(errors.map(({ status, code }) => [status, code])).toEqual(
      calls.map(() => [404, 'thread_not_found']),
    )
    const items = [{ role: 'user' as const, content: 'x' }]
    const error = await errorOf(client.conversations.create({ items }))
    expect([error.status, error.param]).toEqual([400, 'items'])
  })

  it('[GW-N14] A conversation of the Responses API gets other metadata, which replace the tags of its thread', async () => {
    const client = open()
    const { id } = await client.conversations.create({ metadata: { topic: 'weather', by: 'ann' } })
    const metadata = { topic: 'music' }
    const updated = await client.conversations.update(id, { metadata })
    expect(updated).toMatchObject({ id, object: 'conversation', metadata })
    expect(await client.conversations.retrieve(id)).toEqual(updated)
    const threadId = id.slice('conv_'.length)
    expect({ ...(await api.runs.threads.get(threadId))?.tags }).toEqual(metadata)
    const large = await errorOf(
      client.conversations.update(id, { metadata: { topic: 'x'.repeat(513) } }),
    )
    expect([large.status, large.param]).toEqual([400, 'metadata.topic'])
  })

  it('[GW-N14] A conversation of the Responses API is deleted with its responses', async () => {
    const client = open()
    const { id } = await client.conversations.create({})
    const response = await client.responses.create({ model: 'echo', input: 'x', conversation: id })
    expect(await client.conversations.delete(id)).toEqual({
      id,
      object: 'conversation.deleted',
      deleted: true,
    })
    expect((await errorOf(client.conversations.retrieve(id))).status).toBe(404)
    expect((await errorOf(client.responses.retrieve(response.id))).status).toBe(404)
  })

  it('[GW-N15] A conversation of the Responses API lists its messages in both orders, in pages of every size', async () => {
    const client = open()
    const { id } = await client.conversations.create({})
    for (const [model, input] of [
      ['echo', 'One'],
      ['failing', 'Two'],
      ['echo', 'Three'],
    ] as const) {
      await client.responses.create({ model, input, conversation: id })
    }
    const said = ['One', '1: One', 'Two', 'Three', '4: Three']
    for (const limit of [1, 2, 3, 5, 100]) {
      const ascending = await all(client.conversations.items.list(id, { order: 'asc', limit }))
      expect([limit, texts(ascending)]).toEqual([limit, said])
      const descending = await all(client.conversations.items.list(id, { limit }))
      expect([limit, texts(descending)]).toEqual([limit, said.toReversed()])
    }
    const { data } = await client.conversations.items.list(id, { order: 'asc', limit: 2 })
    expect(data).toMatchObject([
      { role: 'user', status: 'completed', content: [{ type: 'input_text' }] },
      { role: 'assistant', status: 'completed', content: [{ type: 'output_text' }] },
    ])
    for (const item of data) {
      const itemId = item.id ?? ''
      const { items } = client.conversations
      expect(await items.retrieve(itemId, { conversation_id: id })).toEqual(item)
    }
  })

  it.each([
    ['limit', { limit: 101 }],
    ['order', { order: 'newest' }],
    ['after', { after: 'msg_other_1_user' }],
  ])(
    '[GW-N15] A conversation of the Responses API refuses a list of items by its %s',
    async (param, query) => {
      const client = open()
      const { id } = await client.conversations.create({})
      const error = await errorOf(client.get(`/conversations/${id}/items`, { query }))
      expect([error.status, error.param]).toEqual([400, param])
    },
  )

  it('[GW-N14][GW-N15] A conversation of the Responses API has no single items to add or to delete, and no items of others', async () => {
    const client = open()
    const { id } = await client.conversations.create({})
    const { items } = client.conversations
    const added = await errorOf(items.create(id, { items: [{ role: 'user', content: 'x' }] }))
    expect([added.status, added.code]).toEqual([405, 'method_not_allowed'])
    const item = `msg_${id.slice('conv_'.length)}_1_user`
    const deleted = await errorOf(items.delete(item, { conversation_id: id }))
    expect([deleted.status, deleted.code]).toEqual([405, 'method_not_allowed'])
    const missing = await errorOf(items.retrieve(item, { conversation_id: id }))
    expect([missing.status, missing.code]).toEqual([404, 'not_found'])
  })

  it('[GW-N16] A conversation of another key is not readable, and not usable as history, without runs:read', async () => {
    const { conversations, responses } = open()
    const { id } = await conversations.create({})
    const secret = { model: 'echo', input: 'My secret', conversation: id }
    await responses.create(secret)
    const writer = open(KEYS.writer)
    const asked = { model: 'echo', input: 'What was it?' }
    const refused = [
      writer.conversations.retrieve(id),
      writer.conversations.update(id, { metadata: {} }),
      writer.conversations.delete(id),
      writer.conversations.items.list(id),
      writer.responses.create({ ...asked, conversation: id }),
      writer.responses.create({ ...asked, conversation: id, stream: true }),
    ]
    expect((await Promise.all(refused.map(errorOf))).map(({ status }) => status)).toEqual(
      refused.map(() => 403),
    )
    const threadId = id.slice('conv_'.length)
    const native = await api.post(
      '/api/runs',
      { inputs: { song: 'x' }, threadId },
      { authorization: `Bearer ${KEYS.writer}` },
    )
    expect(native.status).toBe(403)
    expect((await api.runs.threads.get(threadId))?.runCount).toBe(1)
    const { id: own } = await writer.conversations.create({})
    await writer.responses.create({ ...asked, conversation: own })
    const next = await writer.responses.create({ ...asked, conversation: own })
    expect(next.output_text).toBe('3: What was it?')
    const reader = open(KEYS.reader)
    expect((await errorOf(reader.conversations.delete(id))).status).toBe(403)
    const read = await reader.responses.create({ ...asked, conversation: id })
    expect(read.output_text).toBe('3: What was it?')
  })
})

describe("a path of OpenAI's API without a route", () => {
  it("[GW-O4] A path of OpenAI's API without a route is refused in the shape of OpenAI", async () => {
    const client = open()
    const calls = [
      [404, 'not_found', () => client.embeddings.create({ model: 'echo', input: 'x' })],
      [404, 'not_found', () => client.responses.inputTokens.count({ model: 'echo', input: 'x' })],
      [405, 'method_not_allowed', () => client.chat.completions.list()],
      [405, 'method_not_allowed', () => client.models.delete('echo')],
    ] as const
    for (const [status, code, call] of calls) {
      const error = await errorOf(Promise.resolve(call()))
      expect([error.status, error.code, error.type]).toEqual([
        status,
        code,
        'invalid_request_error',
      ])
    }
    const other = await fetch(`${api.url}/v1/embeddings`, {
      headers: { host: 'evil.example', origin: 'https://evil.example' },
    })
    expect([other.status, await other.json()]).toMatchObject([
      403,
      { error: { type: 'permission_error' } },
    ])
  })
})
