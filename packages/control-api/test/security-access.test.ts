import { apiKey, type ApiKey } from '@tutti/control-api'
import { ROUTES, type Scope } from '@tutti/protocol'
import type { Route } from '@tutti/protocol/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { openServer, type TestServer } from './open-server.ts'

import type { ErrorBody } from '@tutti/protocol'

const KEY = 'a-key-of-some-length'
const SCOPES: readonly Scope[] = [
  'runs:read',
  'runs:write',
  'runs:control',
  'reviews:decide',
  'tools:invoke',
  'admin',
]

describe('GET /api/me', () => {
  it('GET /api/me returns name, scopes, roles and expiry of the key', async () => {
    const expiresAt = Date.parse('2031-01-01T00:00:00Z')
    const scopes: readonly Scope[] = ['runs:read', 'reviews:decide']
    await using api = await openServer({
      apiKeys: [key({ name: 'one', scopes, roles: ['editor'], expiresAt })],
    })
    const response = await call(api, '/api/me', 'GET')
    expect(await response.json()).toEqual({
      name: 'one',
      scopes,
      roles: ['editor'],
      expiresAt: '2031-01-01T00:00:00.000Z',
    })
  })

  it('GET /api/me reports all scopes on a server without keys', async () => {
    await using api = await openServer({})
    const response = await fetch(`${api.url}/api/me`)
    expect(await response.json()).toEqual({ name: null, scopes: ['admin'], roles: null })
  })
})

describe('scopes', () => {
  const routes = Object.entries(ROUTES as Record<string, Route>).filter(
    ([, { status, scope }]) => status !== 101 && scope !== null,
  )

  it.each(SCOPES)(
    'A key with only %s may use the routes that require it, and no others',
    async (scope) => {
      await using api = await openServer({ apiKeys: [key({ scopes: [scope] })] })
      for (const [name, route] of routes) {
        const path = route.path.replaceAll(/\{\w+\}/g, 'nothing')
        const response = await call(api, path, route.method)
        const body = response.status < 400 ? undefined : ((await response.json()) as ErrorBody)
        const isRefused = body?.error === 'FORBIDDEN'
        expect([name, isRefused]).toEqual([name, scope !== 'admin' && scope !== route.scope])
        if (isRefused)
          expect(body?.message).toContain(`lacks the scope ${route.scope}; it has: ${scope}`)
      }
    },
  )

  const messages: readonly [Scope, object][] = [
    ['runs:write', { type: 'run_request', inputs: {} }],
    ['runs:write', { type: 'task_request', requestId: '1', from: 'x', task: 'band' }],
    ['runs:control', { type: 'run_control', runId: 'x', action: 'cancel' }],
    ['runs:control', { type: 'directive', content: 'x', runId: 'x' }],
    ['reviews:decide', { type: 'review_decision', reviewId: 'x', decision: 'CONTINUE' }],
    ['tools:invoke', { type: 'tool_request', requestId: '1', from: 'x', tool: 'x' }],
  ]

  it.each(messages)('A message requires %s like its route: %j', async (scope, message) => {
    const others = SCOPES.filter((other) => other !== scope && other !== 'admin')
    const scopes: readonly Scope[] = ['runs:read', scope]
    const apiKeys = [key({ scopes: others }), key({ name: 'one', scopes }, 'another-key-of-length')]
    await using api = await openServer({ apiKeys })
    const answerTo = async (token: string): Promise<string> => {
      await using socket = api.connect('/ws', { authorization: `Bearer ${token}` })
      await socket.next('hello')
      socket.send(message)
      socket.send({ type: 'ping' })
      await expect.poll(() => socket.received.length).toBeGreaterThan(2)
      return JSON.stringify(socket.received)
    }
    expect(await answerTo(KEY)).toContain(`lacks the scope ${scope}`)
    expect(await answerTo('another-key-of-length')).not.toContain('lacks the scope')
    expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
  })

  it('A handshake of a WebSocket requires runs:read', async () => {
    await using api = await openServer({ apiKeys: [key({ scopes: ['runs:write'] })] })
    await using socket = api.connect('/ws', { authorization: `Bearer ${KEY}` })
    expect(await socket.refused()).toBe(403)
  })

  it('A key without scopes may do everything except admin; liveness requires no key', async () => {
    await using api = await openServer({ apiKeys: [key({})] })
    expect((await call(api, '/api/audit', 'GET')).status).toBe(403)
    expect((await call(api, '/api/runs', 'GET')).status).toBe(200)
    expect((await api.get('/api/health/live')).status).toBe(200)
    expect((await api.get('/api/nothing')).status).toBe(401)
    expect((await api.get('/api/runs', { method: 'PUT' })).status).toBe(401)
  })
})

describe('keys', () => {
  it('A wrong, truncated or repeated key gets 401, which reveals nothing about the valid one', async () => {
    await using api = await openServer({ apiKeys: [key({})] })
    for (const wrong of [
      KEY.slice(1),
      `${KEY}x`,
      KEY.toUpperCase(),
      `${KEY} ${KEY}`,
      '',
      'Bearer',
    ]) {
      const response = await api.get('/api/runs', { headers: { authorization: `Bearer ${wrong}` } })
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringMatching(/^Bearer( error="invalid_token")?$/),
      ])
      expect(await response.text()).not.toContain(KEY)
    }
    const inQuery = await api.get(`/api/runs?key=${KEY}&ticket=${KEY}`)
    expect(inQuery.status).toBe(401)
  })

  it('An expired key gets 401, and its WebSockets are closed', async () => {
    const clock = fakeClock()
    const expiresAt = clock.now() + 1_000
    await using api = await openServer({ clock, apiKeys: [key({ expiresAt })] })
    await using socket = api.connect('/ws', { authorization: `Bearer ${KEY}` })
    await socket.next('hello')
    expect((await call(api, '/api/runs', 'GET')).status).toBe(200)
    const closed = socket.closed()
    await clock.advance(1_000)
    expect(await closed).toEqual([1008, 'The key has expired'])
    const refused = await call(api, '/api/runs', 'GET')
    expect([refused.status, await refused.text()]).toEqual([
      401,
      expect.stringContaining('expired'),
    ])
  })

  it('An event stream ends when the key of its reader expires', async () => {
    const clock = fakeClock()
    const expiresAt = clock.now() + 1_000
    await using api = await openServer({ clock, apiKeys: [key({ expiresAt })] })
    const { runId } = await api.runs.submit({ inputs: { composer: 'Bach', hall: 'A' } })
    const stream = await fetch(`${api.url}/api/runs/${runId}/events`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    const text = stream.text()
    await clock.advance(1_000)
    expect(await text).toContain('run_queued')
  })

  it.each([
    ['no name', [key({ name: '' })], 'needs a name'],
    [
      'two keys of the same name',
      [key({}), key({}, 'another-key-of-length')],
      'two keys have the name',
    ],
    ['the same key twice', [key({}), key({ name: 'b' })], 'two keys have the same SHA-256'],
    ['an invalid hash', [{ name: 'a', sha256: 'abc' }], 'SHA-256 as 64 hexadecimal digits'],
    ['an unknown scope', [key({ scopes: ['root' as Scope] })], 'unknown scope "root"'],
    ['an invalid limit', [key({ limits: { requestsPerMinute: -1 } })], 'requestsPerMinute'],
  ])('A server with %s does not start', async (_, apiKeys, problem) => {
    await expect(openServer({ apiKeys })).rejects.toThrow(problem)
  })

  it('A server with an invalid origin or a limit out of range does not start', async () => {
    await expect(
      openServer({
        allowedOrigins: ['https://a.example/', 'nonsense'],
        maxHeaders: 0,
        maxBodyBytes: 1.5,
      }),
    ).rejects.toThrow(/maxBodyBytes.*maxHeaders.*"https:\/\/a.example\/".*"nonsense"/)
  })
})

describe('limits of a key', () => {
  it('Limits of a key count requests and messages together; one beyond the limit gets the time to wait', async () => {
    const clock = fakeClock()
    await using api = await openServer({
      clock,
      apiKeys: [key({ limits: { requestsPerMinute: 3 } })],
    })
    await using socket = api.connect('/ws', { authorization: `Bearer ${KEY}` })
    await socket.next('hello')
    expect((await call(api, '/api/runs', 'GET')).status).toBe(200)
    socket.send('no message at all')
    await socket.next('error')
    socket.send({ type: 'run_request', inputs: {} })
    expect(await socket.next('run_ack')).toMatchObject({
      status: 'REJECTED',
      error: 'RATE_LIMITED',
      retryAfterMs: 20_000,
    })
    const refused = await call(api, '/api/runs', 'GET')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '20'])
    await clock.advance(20_000)
    expect((await call(api, '/api/runs', 'GET')).status).toBe(200)
  })

  it('[API-K4] Limits of a key refuse an address with too many wrong keys, while valid keys from there still work', async () => {
    const clock = fakeClock()
    await using api = await openServer({ clock, maxRefusedKeysPerMinute: 2, apiKeys: [key({})] })
    const statuses: number[] = []
    for (let n = 0; n < 3; n += 1) statuses.push((await api.get('/api/runs')).status)
    expect(statuses).toEqual([401, 401, 429])
    await using socket = api.connect()
    expect(await socket.refused()).toBe(429)
    expect((await call(api, '/api/runs', 'GET')).status).toBe(200)
    await clock.advance(30_000)
    expect((await api.get('/api/runs')).status).toBe(401)
  })

  it('Limits of a key count unfinished runs and their cost', async () => {
    const apiKeys = [
      key({ limits: { maxUnfinishedRuns: 1 } }),
      key({ name: 'b' }, 'another-key-of-length'),
    ]
    await using api = await openServer({ apiKeys })
    const submit = (token: string) =>
      api.post(
        '/api/runs',
        { inputs: { composer: 'Bach', hall: 'A' } },
        { authorization: `Bearer ${token}` },
      )
    expect((await submit(KEY)).status).toBe(202)
    const refused = await submit(KEY)
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { error: 'CONCURRENCY_LIMIT' },
    ])
    expect((await submit('another-key-of-length')).status).toBe(202)
    await using socket = api.connect('/ws', { authorization: `Bearer ${KEY}` })
    await socket.next('hello')
    socket.send({ type: 'run_request', inputs: { composer: 'Bach', hall: 'A' } })
    expect(await socket.next('run_ack')).toMatchObject({ error: 'CONCURRENCY_LIMIT' })
  })
})

function key(entry: Partial<ApiKey>, secret = KEY): ApiKey {
  return apiKey(secret, { name: 'a', ...entry })
}

function call(api: TestServer, path: string, method: string): Promise<Response> {
  return api.get(path, { method, headers: { authorization: `Bearer ${KEY}` } })
}
