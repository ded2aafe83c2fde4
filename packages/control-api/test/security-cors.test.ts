import { describe, expect, it } from 'vitest'

import { codesOf, exchange, head } from './raw-exchange.ts'
import { openServer } from './open-server.ts'

const PAGE = 'https://app.example.com'
const FOREIGN = 'https://evil.example'

describe('cross-origin pages', () => {
  it('Cross-origin pages that are allowed get preflight headers without a key', async () => {
    await using api = await openServer({ allowedOrigins: [PAGE] })
    const [answer] = await exchange(
      api.url,
      head(
        'OPTIONS /api/runs HTTP/1.1',
        `Origin: ${PAGE}`,
        'Access-Control-Request-Method: POST',
        'Access-Control-Request-Headers: authorization',
        'Access-Control-Request-Private-Network: true',
      ),
    )
    expect(answer).toMatchObject({
      status: 204,
      headers: {
        vary: 'Origin',
        'access-control-allow-origin': PAGE,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': 'authorization, *',
        'access-control-allow-private-network': 'true',
      },
    })
    expect(answer?.headers['access-control-allow-credentials']).toBeUndefined()
  })

  it('Cross-origin pages that are allowed can read responses, errors and streams, and others cannot', async () => {
    await using api = await openServer({ allowedOrigins: [PAGE] })
    const runId = await api.submit()
    const headers = { origin: PAGE }
    const streaming = await api.get(`/api/runs/${runId}/events`, { headers })
    const answers = [
      streaming,
      await api.get('/api/status', { headers }),
      await api.get('/api/nothing', { headers }),
      await api.get('/api/runs?limit=x', { headers }),
      await api.post('/api/runs', 'nonsense', headers),
    ]
    for (const { headers: given } of answers) {
      expect(given.get('access-control-allow-origin')).toBe(PAGE)
      expect(given.get('access-control-expose-headers')).toBe(
        'location, tutti-run-id, retry-after, x-should-retry, a2a-extensions, mcp-session-id',
      )
      expect(given.get('vary')).toBe('Origin')
    }
    await streaming.body?.cancel()
    const refused = await api.get('/api/status', { headers: { origin: FOREIGN } })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      403,
      null,
    ])
    expect(refused.headers.get('vary')).toBe('Origin')
    expect((await api.get('/api/status')).headers.get('access-control-allow-origin')).toBeNull()
  })

  it.each([
    FOREIGN,
    'null',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.example',
    'https://evil.example/https://app.example.com',
    'file://localhost',
    'chrome-extension://localhost',
    'https://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'nonsense',
    '',
  ])(
    'Cross-origin pages from "%s" are refused on every route, by Origin and by handshake',
    async (origin) => {
      await using api = await openServer({ allowedOrigins: [PAGE] })
      const lines = ['GET /api/status', 'POST /api/runs', 'DELETE /api/runs/x', 'OPTIONS /api/runs']
      for (const line of lines) {
        const request = head(
          `${line} HTTP/1.1`,
          `Origin: ${origin}`,
          'Access-Control-Request-Method: POST',
          'Content-Type: text/plain',
          'Content-Length: 0',
        )
        const answers = await exchange(api.url, request)
        expect(codesOf(answers)).toEqual([[403, 'ORIGIN_NOT_ALLOWED']])
        expect(answers[0]?.headers['access-control-allow-origin']).toBeUndefined()
      }
      await using socket = api.connect('/ws', { origin })
      expect(await socket.refused()).toBe(403)
      expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
    },
  )

  it('[API-K2] Cross-origin pages that a browser marks as cross-site cannot change anything without an Origin either', async () => {
    await using api = await openServer()
    const statusOf = async (line: string, site: string): Promise<number | undefined> => {
      const request = head(`${line} HTTP/1.1`, `Sec-Fetch-Site: ${site}`, 'Content-Length: 0')
      return (await exchange(api.url, request))[0]?.status
    }
    expect(await statusOf('POST /api/runs/x/cancel', 'cross-site')).toBe(403)
    expect(await statusOf('DELETE /api/runs/x', 'same-site')).toBe(403)
    expect(await statusOf('POST /api/runs/x/cancel', 'same-origin')).toBe(404)
    expect(await statusOf('POST /api/runs/x/cancel', 'none')).toBe(404)
    expect(await statusOf('GET /api/status', 'cross-site')).toBe(200)
  })
})

describe('host names of the server', () => {
  it.each([
    ['evil.example', 'DNS rebinding'],
    ['localhost.evil.example', 'a name with the prefix of an allowed one'],
    ['localhost@evil.example', 'an allowed name with a user'],
    ['evil.example@localhost', 'an allowed name as user'],
    ['localhost/x', 'a path'],
    ['localhost:99999x', 'an invalid port'],
    ['[::1', 'half an address'],
    ['', 'nothing'],
    ['2130706433', 'a number that is an address'],
  ])('The Host "%s" is refused: %s', async (host) => {
    await using api = await openServer()
    const request = `GET /api/status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const [[status, code] = []] = codesOf(await exchange(api.url, request))
    // The number is the decimal form of the loopback address.
    if (host === '2130706433') expect(status).toBe(200)
    else
      expect([
        [403, 'HOST_NOT_ALLOWED'],
        [400, 'BAD_REQUEST'],
      ]).toContainEqual([status, code])
    expect(api.errors).toEqual([])
  })

  it('"*" allows every name, and only pages of the called name', async () => {
    await using api = await openServer({ allowedHosts: ['*'] })
    const statusOf = async (host: string, origin: string): Promise<number | undefined> => {
      const request = [
        'GET /api/status HTTP/1.1',
        `Host: ${host}`,
        `Origin: ${origin}`,
        'Connection: close',
        '',
        '',
      ].join('\r\n')
      return (await exchange(api.url, request))[0]?.status
    }
    expect(await statusOf('tutti.example:7329', 'http://tutti.example:7329')).toBe(200)
    expect(await statusOf('tutti.example:7329', 'http://tutti.example:8080')).toBe(403)
    expect(await statusOf('tutti.example', FOREIGN)).toBe(403)
  })
})
