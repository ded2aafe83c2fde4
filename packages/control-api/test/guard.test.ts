import { request } from 'node:http'

import { describe, expect, it } from 'vitest'

import { apiKey } from '@tutti/control-api'

import { openServer, type TestServer } from './open-server.ts'

const KEY = 'a-key-of-some-length'

describe('the request guard', () => {
  it.each([
    ['an unknown host name (DNS rebinding)', { host: 'evil.example' }, 403, 'HOST_NOT_ALLOWED'],
    ['a cross-origin page', { origin: 'https://evil.example' }, 403, 'ORIGIN_NOT_ALLOWED'],
    ['a page with a null origin', { origin: 'null' }, 403, 'ORIGIN_NOT_ALLOWED'],
  ])(
    'The request guard refuses %s, over HTTP and WebSocket alike',
    async (_, headers, status, code) => {
      await using api = await openServer()
      expect(await raw(api, headers)).toEqual([status, expect.stringContaining(code)])
      await using socket = api.connect('/ws', headers)
      expect(await socket.refused()).toBe(status)
    },
  )

  it.each([
    ['a request without an origin', {}],
    ['a page of this machine', { origin: 'http://localhost:5173' }],
    ['another loopback name', { host: '[::1]:7329' }],
  ])('The request guard accepts %s', async (_, headers) => {
    await using api = await openServer()
    expect((await raw(api, headers))[0]).toBe(200)
    await using socket = api.connect('/ws', headers)
    await socket.next('hello')
  })

  it('The request guard accepts names that the operator allows', async () => {
    await using api = await openServer({ allowedHosts: ['Tutti.example'] })
    const headers = { host: 'tutti.example', origin: 'https://tutti.example' }
    expect((await raw(api, headers))[0]).toBe(200)
    expect((await raw(api, { host: 'other.example' }))[0]).toBe(403)
  })

  it('The request guard requires a key of every request except probes if keys are configured', async () => {
    await using api = await openServer({
      apiKeys: [KEY, 'another-key-of-length'].map((key) => apiKey(key, { name: key })),
    })
    expect(await raw(api, {})).toEqual([401, expect.stringContaining('UNAUTHORIZED')])
    expect((await raw(api, { authorization: 'Bearer wrong' }))[0]).toBe(401)
    expect((await raw(api, { authorization: `Basic ${KEY}` }))[0]).toBe(401)
    expect((await raw(api, { authorization: `Bearer ${KEY}` }))[0]).toBe(200)
    expect((await raw(api, { authorization: 'Bearer another-key-of-length' }))[0]).toBe(200)
    expect((await api.get('/api/health/live')).status).toBe(200)
    await using refused = api.connect()
    expect(await refused.refused()).toBe(401)
    const challenge = async (path: string, key?: string): Promise<string | null> => {
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
      return (await api.get(path, { headers })).headers.get('www-authenticate')
    }
    expect(await challenge('/api/status')).toBe('Bearer')
    expect(await challenge('/api/status', 'wrong')).toBe('Bearer error="invalid_token"')
    expect(await challenge('/api/audit', KEY)).toBe(
      'Bearer error="insufficient_scope", scope="admin"',
    )
    await using socket = api.connect('/ws', { authorization: `Bearer ${KEY}` })
    await socket.next('hello')
  })
})

/** Returns status and body of `GET /api/status` with headers that fetch does not allow. */
function raw(
  api: TestServer,
  headers: Record<string, string>,
): Promise<readonly [number | undefined, string]> {
  return new Promise((resolve, reject) => {
    const sent = request(`${api.url}/api/status`, { headers }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      response.on('end', () => resolve([response.statusCode, body]))
    })
    sent.on('error', reject)
    sent.end()
  })
}
