import { defineTextTool, defineTool, toolCatalog } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { apiKey } from '../src/auth/keys.ts'
import { INITIALIZE, modernCall, postMcp, streamMcp } from './mcp-wire.ts'
import { openServer, type TestServerOptions } from './open-server.ts'

const shout = defineTextTool({
  name: 'shout',
  description: 'Shouts',
  execute: (text) => text.toUpperCase(),
})

function serveHall(options: TestServerOptions = {}) {
  return openServer({ tools: toolCatalog([shout]), ...options })
}

function ping(id: number) {
  return { jsonrpc: '2.0', id, method: 'ping' }
}

describe('POST /mcp', () => {
  it('[GW-E3] POST /mcp answers a call of 2026-07-28 with a stream, and anything else with JSON', async () => {
    await using api = await serveHall()
    const call = await postMcp(api.url, modernCall('shout', { input: 'a' }))
    expect(call.headers.get('content-type')).toContain('text/event-stream')
    expect(call.body.result).toMatchObject({ content: [{ text: 'A' }], resultType: 'complete' })
    const list = { ...modernCall('', {}), method: 'tools/list' }
    const { name: _, arguments: __, ...params } = list.params
    const listed = await postMcp(api.url, { ...list, params })
    expect(listed.headers.get('content-type')).toContain('application/json')
    expect(listed.body.result).toMatchObject({ ttlMs: 60_000, cacheScope: 'private' })
    const next = await postMcp(api.url, { ...list, params: { ...params, cursor: 'more' } })
    expect(next.body.error).toMatchObject({ code: -32_602 })
  })

  it.each(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])(
    'POST /mcp refuses a cursor of %s that is not text as invalid parameters',
    async (method) => {
      await using api = await serveHall()
      const { name: _, arguments: __, ...params } = modernCall('', {}).params
      const list = { ...modernCall('', {}), method, params: { ...params, cursor: {} } }
      const { body } = await postMcp(api.url, list)
      expect(body.error).toMatchObject({ code: -32_602 })
    },
  )

  it.each([
    ['a body that is not JSON', '{"jsonrpc":', /must be JSON/],
    ['JSON that is nested too deeply', `${'['.repeat(200)}${']'.repeat(200)}`, /at most 128 deep/],
  ])('[GW-E1] POST /mcp refuses %s as JSON-RPC does', async (_title, body, message) => {
    await using api = await serveHall()
    const answer = await postMcp(api.url, body)
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: -32_700, message: expect.stringMatching(message) }, id: null },
    })
  })

  it.each([
    ['nothing', ''],
    ['a number', '42'],
    ['null', 'null'],
    ['an empty list', '[]'],
    ['an object that is not a message', '{"method":1}'],
    ['a message without a version', '{"id":1,"method":"tools/list"}'],
  ])('POST /mcp refuses %s without an internal error', async (_title, body) => {
    await using api = await serveHall()
    const { status } = await postMcp(api.url, body)
    expect(status).toBe(400)
    expect(api.errors).toEqual([])
  })

  it('[GW-E1] POST /mcp refuses text that is not UTF-8 instead of changing it', async () => {
    await using api = await serveHall()
    const text = JSON.stringify(modernCall('shout', { input: '?' }))
    const bytes = Buffer.from(text).map((byte) => (byte === 0x3f ? 0xff : byte))
    const answer = await fetch(`${api.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: bytes,
    })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32_700 } }])
  })

  it('[GW-E1] POST /mcp refuses a body that is too large, or whose content type is not JSON', async () => {
    await using api = await serveHall({ maxBodyBytes: 1_000 })
    const long = modernCall('shout', { input: 'x'.repeat(1_000) })
    expect(await postMcp(api.url, long)).toMatchObject({
      status: 413,
      body: { error: 'PAYLOAD_TOO_LARGE' },
    })
    const typed = { headers: { 'content-type': 'text/plain' } }
    expect(await postMcp(api.url, ping(1), typed)).toMatchObject({
      status: 415,
      body: { error: 'UNSUPPORTED_MEDIA_TYPE' },
    })
  })

  it('POST /mcp refuses cross-origin pages and other host names', async () => {
    await using api = await serveHall()
    const foreign = { headers: { origin: 'https://evil.example' } }
    expect(await postMcp(api.url, ping(1), foreign)).toMatchObject({
      status: 403,
      body: { error: 'ORIGIN_NOT_ALLOWED' },
    })
  })

  it('POST /mcp refuses other methods', async () => {
    await using api = await serveHall()
    expect((await fetch(`${api.url}/mcp`, { method: 'PUT' })).status).toBe(405)
  })

  it.each([
    [{ 'mcp-param-region': 'eu' }, 200],
    [{ 'mcp-param-region': 'us' }, 400],
    [{}, 400],
  ])(
    '[GW-M4] POST /mcp compares %j with the argument that the schema assigns to that header: %i',
    async (headers, status) => {
      const properties = { region: { type: 'string', 'x-mcp-header': 'Region' } }
      const forecast = defineTool({
        name: 'forecast',
        description: 'Forecasts',
        input: { type: 'object', properties },
        execute: () => 'Rain',
      })
      await using api = await serveHall({ tools: toolCatalog([forecast]) })
      const answer = await postMcp(api.url, modernCall('forecast', { region: 'eu' }), { headers })
      expect(answer.status).toBe(status)
      if (status === 400) expect(answer.body.error).toMatchObject({ code: -32_020 })
    },
  )

  it('POST /mcp does not exist on a server with the surface health', async () => {
    await using api = await serveHall({ surface: 'health' })
    expect((await postMcp(api.url, INITIALIZE)).status).toBe(404)
  })
})

describe('a text that responses repeat', () => {
  it('[GW-E4] A text that responses repeat is refused beyond 255 characters, alone and in a batch, without being repeated', async () => {
    await using api = await serveHall()
    const long = 'x'.repeat(256)
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const cases = [
      [{ ...ping, id: long }, /^id must have at most 255 characters, got 256$/],
      [{ ...ping, method: long }, /^method must have/],
      [{ ...ping, params: { _meta: { progressToken: long } } }, /^progressToken must have/],
      [[ping, { ...ping, id: long }], /^id must have/],
    ] as const
    for (const [message, expected] of cases) {
      const { status, body } = await postMcp(api.url, message)
      expect([status, body.error?.code]).toEqual([400, -32_600])
      expect(body.error?.message).toMatch(expected)
    }
  })

  it('A text that responses repeat is truncated in an error of the SDK', async () => {
    await using api = await serveHall()
    const call = modernCall('band', {})
    const version = { 'io.modelcontextprotocol/protocolVersion': 'x'.repeat(100_000) }
    const _meta = { ...call.params._meta, ...version }
    const { status, body } = await postMcp(api.url, { ...call, params: { ...call.params, _meta } })
    expect([status, body.error?.code]).toEqual([400, expect.any(Number)])
    expect(JSON.stringify(body).length).toBeLessThan(16_384)
    expect(body.error?.message).toMatch(/\w/)
  })

  it('[GW-M5] A text that responses repeat is named when a parameter is missing', async () => {
    await using api = await serveHall()
    const { _meta } = modernCall('band', {}).params
    for (const [method, field] of [
      ['resources/read', 'uri'],
      ['prompts/get', 'name'],
    ] as const) {
      const { body } = await postMcp(api.url, { jsonrpc: '2.0', id: 7, method, params: { _meta } })
      expect(body).toMatchObject({ id: 7, error: { code: -32_602 } })
      expect(body.error?.message).toContain(`Invalid params for ${method}: ${field}: `)
    }
  })

  it('A text that responses repeat is accepted with 255 characters', async () => {
    await using api = await serveHall()
    const id = 'x'.repeat(255)
    expect((await postMcp(api.url, { ...INITIALIZE, id })).body.id).toBe(id)
  })
})

describe('an idle call', () => {
  /** Reads a stream until a comment, which is its heartbeat. */
  async function untilComment(response: Response): Promise<void> {
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk)
      if (/^:/m.test(text)) return
    }
    throw new Error(`The stream ended without a comment: ${text}`)
  }

  it('An idle call has a stream with heartbeats, in both eras', async () => {
    await using api = await openServer({ heartbeatMs: 20 })
    const given = { composer: 'Bach', hall: 'A' }
    await untilComment(await streamMcp(api.url, modernCall('band', given)))
    const { headers } = await postMcp(api.url, INITIALIZE)
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
    const call = { ...message, params: { name: 'band', arguments: given } }
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
    await untilComment(await streamMcp(api.url, call, { headers: session }))
  })
})

describe('a session of an older client', () => {
  async function opened(url: string, key?: string) {
    const auth = key === undefined ? {} : { key }
    const { status, headers } = await postMcp(url, INITIALIZE, auth)
    expect(status).toBe(200)
    return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
  }

  it.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'A session of an older client supports %s',
    async (protocolVersion) => {
      await using api = await serveHall()
      const { params } = INITIALIZE
      const { body } = await postMcp(api.url, {
        ...INITIALIZE,
        params: { ...params, protocolVersion },
      })
      expect(body.result).toMatchObject({ protocolVersion, serverInfo: { name: 'tutti' } })
    },
  )

  it('A session of an older client is required for every request except the first', async () => {
    await using api = await serveHall()
    expect(await postMcp(api.url, ping(1))).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('send initialize first') } },
    })
    expect((await fetch(`${api.url}/mcp`)).status).toBe(400)
    const unknown = { headers: { 'mcp-session-id': 'made-up' } }
    expect(await postMcp(api.url, ping(1), unknown)).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining('initialize again') } },
    })
  })

  it('[GW-S1] A session of an older client does not exist for another caller', async () => {
    const scopes = ['runs:read'] as const
    const keys = ['one', 'two'].map((name) => apiKey(`${name}-key`, { name, scopes }))
    await using api = await serveHall({ apiKeys: keys })
    const headers = await opened(api.url, 'one-key')
    expect((await postMcp(api.url, ping(1), { key: 'two-key', headers })).status).toBe(404)
    expect((await postMcp(api.url, ping(1), { key: 'one-key', headers })).status).toBe(200)
  })

  it('A session of an older client ends with DELETE', async () => {
    await using api = await serveHall()
    const headers = await opened(api.url)
    expect((await fetch(`${api.url}/mcp`, { method: 'DELETE', headers })).status).toBe(200)
    expect((await postMcp(api.url, ping(1), { headers })).status).toBe(404)
  })

  it('[GW-E2] A session of an older client accepts a batch, and counts each of its messages', async () => {
    const key = apiKey('one-key', {
      name: 'one',
      scopes: ['runs:read'],
      limits: { requestsPerMinute: 4 },
    })
    await using api = await serveHall({ apiKeys: [key] })
    const headers = await opened(api.url, 'one-key')
    const batch = [ping(1), ping(2), ping(3), ping(4)]
    expect(await postMcp(api.url, batch, { key: 'one-key', headers })).toMatchObject({
      status: 429,
      body: { error: 'RATE_LIMITED' },
    })
  })

  it('A session of an older client refuses a batch of more than 50', async () => {
    await using api = await serveHall()
    const headers = await opened(api.url)
    const pings = (count: number) => Array.from({ length: count }, (_, index) => ping(index))
    expect((await postMcp(api.url, pings(50), { headers })).status).toBe(200)
    expect(await postMcp(api.url, pings(51), { headers })).toMatchObject({
      status: 400,
      body: { error: 'BAD_REQUEST', message: expect.stringContaining('at most 50') },
    })
  })
})
