import { apiKey } from '@tutti/control-api'
import { TuttiError } from '@tutti/core'
import { decode, ERROR_CODES, ErrorBody } from '@tutti/protocol'
import { COMMON_ERRORS } from '@tutti/protocol/internal'
import { describe, expect, it, vi } from 'vitest'

import { exchange, head, type RawAnswer } from './raw-exchange.ts'
import { openServer, type TestServer, type TestServerOptions } from './open-server.ts'

type Code = (typeof COMMON_ERRORS)[number]

/** Options and request that provoke an error code. */
interface Attack {
  readonly options?: TestServerOptions
  readonly send: (api: TestServer) => string | Promise<string>
}

const KEY = 'a-key-of-some-length'
const keyed = { apiKeys: [apiKey(KEY, { name: 'a', scopes: ['runs:read'] })] }
const AUTHORIZED = `Authorization: Bearer ${KEY}`
const JSON_BODY = 'Content-Type: application/json'

const ATTACKS: Readonly<Record<Code, Attack>> = {
  BAD_REQUEST: { send: () => head('GET /api/runs?limit=x HTTP/1.1') },
  UNAUTHORIZED: { options: keyed, send: () => head('GET /api/runs HTTP/1.1') },
  FORBIDDEN: {
    options: keyed,
    send: () => head('POST /api/runs/x/cancel HTTP/1.1', AUTHORIZED, 'Content-Length: 0'),
  },
  ORIGIN_NOT_ALLOWED: {
    send: () => head('GET /api/runs HTTP/1.1', 'Origin: https://evil.example'),
  },
  HOST_NOT_ALLOWED: {
    send: () => 'GET /api/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
  },
  METHOD_NOT_ALLOWED: { send: () => head('PATCH /api/runs HTTP/1.1') },
  NOT_ACCEPTABLE: { send: () => head('GET /api/runs HTTP/1.1', 'Accept: image/png') },
  PAYLOAD_TOO_LARGE: {
    options: { maxBodyBytes: 10 },
    send: () =>
      `${head('POST /api/runs HTTP/1.1', JSON_BODY, 'Content-Length: 11')}${'x'.repeat(11)}`,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    send: () =>
      `${head('POST /api/runs HTTP/1.1', 'Content-Type: text/plain', 'Content-Length: 2')}{}`,
  },
  REQUEST_TIMEOUT: {
    options: { headersTimeoutMs: 100 },
    send: () => 'GET /api/runs HTTP/1.1\r\n',
  },
  HEADERS_TOO_LARGE: { send: () => head('GET / HTTP/1.1', `X: ${'x'.repeat(20_000)}`) },
  RATE_LIMITED: {
    options: { ...keyed, maxRefusedKeysPerMinute: 1 },
    async send(api) {
      await api.get('/api/runs')
      return head('GET /api/runs HTTP/1.1')
    },
  },
  INTERNAL: {
    send(api) {
      vi.spyOn(api.runs, 'list').mockRejectedValueOnce(new Error('secret inside'))
      return head('GET /api/runs HTTP/1.1')
    },
  },
  OVERLOADED: {
    send(api) {
      api.runs.budget.hold('another', api.runs.budget.limit)
      return head('POST /api/runs HTTP/1.1', JSON_BODY, 'Content-Length: 2')
    },
  },
  QUERY_TOO_SLOW: {
    send(api) {
      const slow = new TuttiError('QUERY_TOO_SLOW', 'Reading took too long')
      vi.spyOn(api.runs, 'list').mockRejectedValueOnce(slow)
      return head('GET /api/runs HTTP/1.1')
    },
  },
  STORE_UNAVAILABLE: {
    send(api) {
      const away = new TuttiError('STORE_UNAVAILABLE', 'The run store cannot be reached')
      vi.spyOn(api.runs, 'list').mockRejectedValueOnce(away)
      return head('GET /api/runs HTTP/1.1')
    },
  },
}

describe('every error that a route can return', () => {
  const cases = Object.entries(ATTACKS) as [Code, Attack][]

  it('Every error that a route can return is in this table', () => {
    expect(cases.map(([code]) => code).toSorted()).toEqual(COMMON_ERRORS.toSorted())
  })

  it.each(cases)(
    '%s has its status, its body and the headers of every response',
    async (code, attack) => {
      await using api = await openServer(attack.options)
      const [answer] = await exchange(api.url, await attack.send(api))
      vi.restoreAllMocks()
      expect(answer?.status).toBe(ERROR_CODES[code].status)
      const body: unknown = JSON.parse(answer?.body ?? '')
      expect(decode(ErrorBody, body)).toMatchObject({ ok: true, value: { error: code } })
      expect(answer?.headers).toMatchObject({
        'content-type': 'application/json',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        connection: 'close',
      })
      expectExtras(code, answer)
      // Only an internal error is logged as an error, with the id that the caller gets.
      expect(api.errors).toEqual(code === 'INTERNAL' ? ['Request failed'] : [])
    },
  )
})

function expectExtras(code: Code, answer: RawAnswer | undefined): void {
  if (code === 'INTERNAL') {
    expect(answer?.body).not.toContain('secret inside')
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({
      requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    })
  }
  if (code === 'RATE_LIMITED') expect(answer?.headers['retry-after']).toBe('60')
  if (code === 'QUERY_TOO_SLOW' || code === 'STORE_UNAVAILABLE') {
    expect(answer?.headers['retry-after']).toBe('5')
  }
  if (code === 'OVERLOADED') expect(answer?.headers['retry-after']).toBe('1')
  if (code === 'UNAUTHORIZED') expect(answer?.headers['www-authenticate']).toBe('Bearer')
  if (code === 'METHOD_NOT_ALLOWED') expect(answer?.headers['allow']).toBe('POST, GET, HEAD')
}
