import { silentLogger } from '@tutti/core/internal'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { parseResponses, codesOf, exchange, head, open } from './raw-exchange.ts'
import { eventsOf, openServer, type TestServer } from './open-server.ts'

/** Headers of every response: not framed, not cached, not sniffed. */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
}

/** Timeout of polls, far longer than they take. */
const POLL = { timeout: 60_000 }

describe('excessive headers', () => {
  it.each([
    ['a header that is too long', `X-Long: ${'x'.repeat(20_000)}`],
    ['a request line that is too long', ''],
    ['too many headers', Array.from({ length: 200 }, (_, n) => `X-${n}: 1`).join('\r\n')],
  ])('[API-H1] %s get 431 with an error body', async (_, header) => {
    await using api = await openServer()
    const path = header === '' ? `/api/status?x=${'x'.repeat(20_000)}` : '/api/status'
    const line = `GET ${path} HTTP/1.1`
    const [answer] = await exchange(api.url, header === '' ? head(line) : head(line, header))
    expect(answer).toMatchObject({ status: 431, headers: SECURITY_HEADERS })
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error: 'HEADERS_TOO_LARGE' })
    await expectWell(api)
  })

  it('[API-H2] Excessive headers get 431 from one header more than allowed, which is counted', async () => {
    await using api = await openServer({ maxHeaders: 10 })
    const send = async (headers: number): Promise<unknown> => {
      // Host and Connection are two of them.
      const more = Array.from({ length: headers - 2 }, (_, n) => `X-${n}: 1`)
      return codesOf(await exchange(api.url, head('GET /api/health/live HTTP/1.1', ...more)))
    }
    expect(await send(10)).toEqual([[200, undefined]])
    expect(await send(11)).toEqual([[431, 'HEADERS_TOO_LARGE']])
    expect(await metricsOf(api)).toContain('tutti_http_requests_total{route="none",status="431"} 1')
  })

  it('Excessive headers without an end are cut off', async () => {
    await using api = await openServer()
    await using connection = open(api.url)
    connection.send('GET / HTTP/1.1\r\nHost: localhost\r\n')
    const flood = setInterval(() => connection.send(`X-Flood: ${'x'.repeat(4_000)}\r\n`), 1)
    const text = await connection.closed()
    clearInterval(flood)
    expect(text).toMatch(/^HTTP\/1\.1 431 /)
    await expectWell(api)
  })

  it.each(['Host: localhost', 'Authorization: Bearer x', 'Origin: http://localhost'])(
    '[API-K1] Excessive headers with "%s" twice get 400',
    async (header) => {
      await using api = await openServer()
      const request = head('GET /api/status HTTP/1.1', header, header)
      expect(codesOf(await exchange(api.url, request))).toEqual([[400, 'BAD_REQUEST']])
    },
  )
})

describe('slow requests', () => {
  const limits = { headersTimeoutMs: 200, requestTimeoutMs: 400, stalledReaderMs: 300 }

  it('[API-H2] Slow requests with incomplete headers get 408 with an error body', async () => {
    await using api = await openServer(limits)
    const [answer] = await exchange(api.url, 'GET /api/status HTTP/1.1\r\nHost: localhost\r\n')
    expect(answer).toMatchObject({ status: 408, headers: SECURITY_HEADERS })
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error: 'REQUEST_TIMEOUT' })
  })

  it('[API-H2] Slow requests with an incomplete body get 408, which is not an internal error', async () => {
    await using api = await openServer(limits)
    const request = head(
      'POST /api/runs HTTP/1.1',
      'Content-Type: application/json',
      'Content-Length: 100',
    )
    expect(codesOf(await exchange(api.url, `${request}{"inputs":`))).toEqual([
      [408, 'REQUEST_TIMEOUT'],
    ])
    expect(api.errors).toEqual([])
    await expectWell(api)
  })

  it('[API-H2] Slow responses are not cut off: `wait` and an event stream', async () => {
    await using api = await openServer(limits)
    const inputs = { composer: 'Bach', hall: 'A' }
    const waiting = api.post('/api/runs?wait=60', { runId: 'slow', inputs })
    await expect.poll(async () => (await api.get('/api/runs/slow')).status).toBe(200)
    const events = eventsOf(await api.get('/api/runs/slow/events'))
    // Other connections are cut off meanwhile by the same limits.
    for (let n = 0; n < 3; n += 1) await exchange(api.url, 'GET /api/status HTTP/1.1\r\n')
    api.play()
    expect((await waiting).status).toBe(200)
    expect((await events).at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
  })

  it('[API-H4] Connections of event readers that stop reading are closed, and the run still ends', async () => {
    const infos: string[] = []
    const logger = { ...silentLogger, info: (message: string) => void infos.push(message) }
    const shout = task({ name: 'shout', description: 'Shout' })
    const model = scriptedModel(() => 'x'.repeat(4_000_000))
    const loud = ensemble({ name: 'loud', tasks: [shout], model })
    await using api = await openServer({ ...limits, logger, ensembles: [loud] })
    await api.post('/api/runs?wait=60', { runId: 'loud' })
    await using reader = open(api.url)
    reader.socket.pause()
    reader.send('GET /api/runs/loud/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => infos, POLL).toContain('Closed a stalled connection')
    expect((await api.detail('loud')).status).toBe('COMPLETED')
    expect(await metricsOf(api)).toContain('tutti_reader_drops_total{transport="http"} 1')
  })

  it('[API-H4] Slow requests that never come leave no connection open, and are not stalled readers', async () => {
    const infos: string[] = []
    const logger = { ...silentLogger, info: (message: string) => void infos.push(message) }
    await using api = await openServer({ stalledReaderMs: 300, logger })
    await using silent = open(api.url)
    expect(await silent.closed()).toBe('')
    expect(infos).not.toContain('Closed a stalled connection')
    expect(await metricsOf(api)).not.toContain('tutti_reader_drops_total{transport="http"}')
  })
})

describe('too many connections', () => {
  it('[API-H3] Connections beyond the limit get 429, and others continue', async () => {
    await using api = await openServer({ maxConnections: 2 })
    await using first = open(api.url)
    await using second = open(api.url)
    first.send('GET /api/status HTTP/1.1\r\n')
    second.send('GET /api/status HTTP/1.1\r\n')
    await expect
      .poll(async () => codesOf(await exchange(api.url, head('GET /api/status HTTP/1.1'))), POLL)
      .toEqual([[429, 'RATE_LIMITED']])
    first.send('Host: localhost\r\nConnection: close\r\n\r\n')
    expect(await first.closed()).toMatch(/^HTTP\/1\.1 200 /)
    await expect.poll(() => rawStatus(api), POLL).toBe(200)
  })

  it('[API-H3] Connections of one address are refused, also as WebSockets, until another closes', async () => {
    await using api = await openServer({ maxConnectionsPerAddress: 1 })
    await using first = open(api.url)
    first.send('GET /api/status HTTP/1.1\r\n')
    await expect
      .poll(async () => codesOf(await exchange(api.url, head('GET /api/status HTTP/1.1'))), POLL)
      .toEqual([[429, 'RATE_LIMITED']])
    await using socket = api.connect()
    expect(await socket.refused()).toBe(429)
    first.send('Host: localhost\r\nConnection: close\r\n\r\n')
    expect(await first.closed()).toMatch(/^HTTP\/1\.1 200 /)
    await expect.poll(() => rawStatus(api), POLL).toBe(200)
  })

  it('Connections of WebSockets have a separate limit', async () => {
    await using api = await openServer({ maxSockets: 1 })
    await using first = api.connect()
    await first.next('hello')
    await using second = api.connect()
    expect(await second.refused()).toBe(429)
    expect((await api.get('/api/status')).status).toBe(200)
    await first[Symbol.asyncDispose]()
    await expect
      .poll(async () => {
        await using next = api.connect()
        return await Promise.race([next.refused(), next.next('hello').then(() => 'hello')])
      }, POLL)
      .toBe('hello')
  })
})

describe('unusual requests', () => {
  it.each([
    ['a method that does not exist', 'BREW /api/status HTTP/1.1', 400, 'BAD_REQUEST'],
    ['TRACE', 'TRACE /api/status HTTP/1.1', 405, 'METHOD_NOT_ALLOWED'],
    ['OPTIONS without an origin', 'OPTIONS /api/status HTTP/1.1', 405, 'METHOD_NOT_ALLOWED'],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1', 400, 'BAD_REQUEST'],
    ['HEAD', 'HEAD /api/status HTTP/1.1', 200, undefined],
    ['HTTP/1.0', 'GET /api/status HTTP/1.0', 200, undefined],
    ['HTTP/3.0', 'GET /api/status HTTP/3.0', 400, 'BAD_REQUEST'],
    ['an absolute target', 'GET http://localhost/api/status HTTP/1.1', 200, undefined],
    [
      '[API-H5] an absolute target with another host',
      'GET http://evil.example/ HTTP/1.1',
      403,
      'HOST_NOT_ALLOWED',
    ],
    ['a path with a bad escape', 'GET /api/runs/%zz HTTP/1.1', 400, 'BAD_REQUEST'],
    ['a path that is not UTF-8', 'GET /api/runs/%ff%fe HTTP/1.1', 400, 'BAD_REQUEST'],
    ['a query with a bad escape', 'GET /api/runs?tag=%e0%a4 HTTP/1.1', 400, 'BAD_REQUEST'],
    ['a path with a null byte', 'GET /api/runs/%00 HTTP/1.1', 404, 'RUN_NOT_FOUND'],
    ['a path with a backslash', 'GET /api\\status HTTP/1.1', 400, 'BAD_REQUEST'],
    ['a path that goes up', 'GET /api/runs/../../etc/passwd HTTP/1.1', 404, 'NOT_FOUND'],
    ['a path of slashes', 'GET ////// HTTP/1.1', 404, 'NOT_FOUND'],
    ['a path with spaces', 'GET /api/ status HTTP/1.1', 400, 'BAD_REQUEST'],
    ['an empty target', 'GET  HTTP/1.1', 400, 'BAD_REQUEST'],
  ])('%s gets an error that names the problem, and no 500', async (_, line, status, code) => {
    await using api = await openServer()
    const [answer, ...others] = codesOf(await exchange(api.url, head(line)))
    expect([answer, others]).toEqual([[status, line.startsWith('HEAD') ? undefined : code], []])
    expect(api.errors).toEqual([])
    await expectWell(api)
  })

  it.each([
    ['1.1', '/api/status', 400, 'BAD_REQUEST'],
    ['1.1', '/api/health/live', 400, 'BAD_REQUEST'],
    ['1.0', '/api/status', 403, 'HOST_NOT_ALLOWED'],
    ['1.0', '/api/health/live', 200, undefined],
    ['1.0', '/api/health/ready?x=1', 200, undefined],
    ['1.0', '/api/health/../status', 403, 'HOST_NOT_ALLOWED'],
  ])(
    '[API-K1] Unusual requests of HTTP/%s for %s without a Host get %i',
    async (version, path, status, code) => {
      await using api = await openServer()
      const request = `GET ${path} HTTP/${version}\r\nConnection: close\r\n\r\n`
      expect(codesOf(await exchange(api.url, request))).toEqual([[status, code]])
    },
  )

  it('[API-H6] Unusual requests that expect 100 Continue get it only for a body that is not too large', async () => {
    await using api = await openServer({ maxBodyBytes: 10 })
    const announce = (size: number) =>
      [
        'POST /api/runs HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        'Expect: 100-continue',
        `Content-Length: ${size}`,
        '',
        '',
      ].join('\r\n')
    await using large = open(api.url)
    large.send(announce(11))
    const refused = await large.closed()
    expect(codesOf(parseResponses(refused))).toEqual([[413, 'PAYLOAD_TOO_LARGE']])
    await using small = open(api.url)
    small.send(announce(10).replace('Host', 'Connection: close\r\nHost'))
    await expect.poll(() => small.text(), POLL).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    small.send('{"a": true')
    const answered = (await small.closed()).replace('HTTP/1.1 100 Continue\r\n\r\n', '')
    expect(codesOf(parseResponses(answered))).toEqual([[400, 'BAD_REQUEST']])
  })

  it('[API-H6] Unusual requests that expect 100 Continue get it for a body of unknown length', async () => {
    await using api = await openServer()
    await using client = open(api.url)
    client.send(
      head(
        'POST /api/runs HTTP/1.1',
        'Content-Type: application/json',
        'Expect: 100-continue',
        'Transfer-Encoding: chunked',
      ),
    )
    await expect.poll(() => client.text(), POLL).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    client.send('2\r\n[]\r\n0\r\n\r\n')
    const answered = (await client.closed()).replace('HTTP/1.1 100 Continue\r\n\r\n', '')
    expect(codesOf(parseResponses(answered))).toEqual([[400, 'BAD_REQUEST']])
  })

  it.each([
    ['two lengths', 'Content-Length: 3\r\nContent-Length: 4'],
    ['a length and chunks (smuggling)', 'Content-Length: 3\r\nTransfer-Encoding: chunked'],
    ['a length that is not a number', 'Content-Length: -1'],
    ['an invalid transfer encoding', 'Transfer-Encoding: chunked, gzip'],
  ])('Unusual requests with a body that has %s get 400', async (_, headers) => {
    await using api = await openServer()
    const request = head('POST /api/runs HTTP/1.1', 'Content-Type: application/json', headers)
    const answers = codesOf(await exchange(api.url, `${request}{}\r\n0\r\n\r\n`))
    expect(answers).toEqual([[400, 'BAD_REQUEST']])
    expect(api.errors).toEqual([])
  })

  it('Unusual requests with an invalid chunk, or garbage after a request, end only their connection', async () => {
    await using api = await openServer()
    const chunked = head(
      'POST /api/runs HTTP/1.1',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    )
    expect(codesOf(await exchange(api.url, `${chunked}zz\r\n`))).toEqual([[400, 'BAD_REQUEST']])
    const keep = 'GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const answers = codesOf(await exchange(api.url, `${keep}${keep}\u0000garbage\r\n\r\n`))
    expect(answers.at(-1)).toEqual([400, 'BAD_REQUEST'])
    expect(api.errors).toEqual([])
    await expectWell(api)
  })

  it('Unusual requests whose client leaves within the body cause no internal error', async () => {
    await using api = await openServer()
    for (const sent of ['', '{"inputs":{']) {
      await using connection = open(api.url)
      const request = head('POST /api/runs HTTP/1.1', 'Content-Length: 99')
      await new Promise((resolve) => connection.socket.write(request + sent, resolve))
      connection.socket.resetAndDestroy()
      await connection.closed()
    }
    await expectWell(api)
    expect(api.errors).toEqual([])
  })

  it('Unusual requests for an upgrade to another protocol are handled as HTTP/1.1', async () => {
    await using api = await openServer()
    const request = [
      'GET /api/status HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade, HTTP2-Settings, close',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
      '',
      '',
    ].join('\r\n')
    await using connection = open(api.url)
    connection.send(request)
    await expect.poll(() => connection.socket.bytesRead).toBeGreaterThan(0)
    connection.socket.end()
    expect(parseResponses(await connection.closed())[0]?.status).toBe(200)
  })

  it.each([
    ['a version that does not exist', { 'sec-websocket-version': '99' }],
    ['no key', { 'sec-websocket-key': 'x' }],
  ])('Unusual requests for a handshake with %s get 400 with an error body', async (_, changed) => {
    await using api = await openServer()
    const headers = {
      host: 'localhost',
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...changed,
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const request = ['GET /ws HTTP/1.1', ...lines, '', ''].join('\r\n')
    expect(codesOf(await exchange(api.url, request))).toEqual([[400, 'BAD_REQUEST']])
  })

  it.each(['/runs/%ff/ws', '/runs/%/ws'])(
    'Unusual requests for a handshake at %s get 400',
    async (path) => {
      await using api = await openServer()
      await using socket = api.connect(path)
      expect(await socket.refused()).toBe(400)
      await using other = api.connect('//')
      expect(await other.refused()).toBe(404)
      expect(api.errors).toEqual([])
    },
  )
})

/** Returns the status of a request on a new connection. */
async function rawStatus(api: TestServer): Promise<number | undefined> {
  const [answer] = await exchange(api.url, head('GET /api/status HTTP/1.1'))
  return answer?.status
}

async function expectWell(api: TestServer): Promise<void> {
  expect(await rawStatus(api)).toBe(200)
}

async function metricsOf(api: TestServer): Promise<string> {
  return (await api.get('/metrics')).text()
}
