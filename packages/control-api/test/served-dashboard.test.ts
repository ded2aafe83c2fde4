/** The dashboard over HTTP: clients that get the page or the text, and paths that serve nothing. */
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'

import { BROWSER, dashboardFolder, FONT, PAGE } from './dashboard-folder.ts'
import { openServer, type TestServer } from './open-server.ts'

import type { IncomingHttpHeaders } from 'node:http'

const KEY = 'a-key-of-some-length'
const SCRIPT = '/assets/index-DKaX9_-q.js'
const STYLE = '/assets/index-B2c_4d5e.css'
const FONT_FILE = '/assets/plex-H9i0j1k2.woff2'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'"

const PAGE_HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': expect.stringContaining('camera=()'),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  vary: 'Origin, accept-encoding, accept',
  etag: expect.stringMatching(/^"[\w-]{22}"$/),
}

/** Paths without a file; some would lead out of the folder on disk. */
const NOWHERE = [
  '/assets/none.js',
  '/assets/.hidden.js',
  '/assets/',
  '/assets',
  '/index.html',
  '/assets/..%2f..%2fetc/passwd',
  '/assets/..%2Findex.html',
  '/assets/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
  '/assets/../../../../../etc/passwd',
  '/assets/..%5c..%5cetc%5cpasswd',
  '/assets/index-DKaX9_-q.js/',
  '/assets//index-DKaX9_-q.js',
  '//assets/index-DKaX9_-q.js',
  '/assets/index-DKaX9_-q.js%00.css',
  '/ASSETS/index-DKaX9_-q.js',
  '/%2fetc/passwd',
  '/constructor',
  '/__proto__',
]

describe('GET /', () => {
  it('GET / returns the page with its policy to a browser', async () => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const page = await raw(api, '/', BROWSER)
    expect([page.status, page.body.toString()]).toEqual([200, PAGE])
    expect(page.headers).toMatchObject({
      ...PAGE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(PAGE.length),
    })
  })

  it.each([{}, { accept: '*/*' }, { accept: 'text/html;q=0.8, text/plain' }])(
    'GET / returns the text to a client that sends %j',
    async (headers) => {
      using folder = dashboardFolder()
      await using api = await openServer({ dashboard: folder.path })
      const text = await raw(api, '/', headers)
      expect([text.status, text.body.toString()]).toEqual([
        200,
        expect.stringContaining(`curl -X POST ${api.url}/api/runs`),
      ])
      expect(text.headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
        vary: 'Origin, accept',
      })
      expect(text.headers['cross-origin-opener-policy']).toBeUndefined()
    },
  )

  it('GET / returns the text to every client if there is no dashboard', async () => {
    await using api = await openServer()
    const text = await raw(api, '/', BROWSER)
    expect([text.status, text.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
  })

  it('GET / requires a key for the text, and none for the page and its files', async () => {
    using folder = dashboardFolder()
    await using api = await openServer({
      dashboard: folder.path,
      apiKeys: [
        apiKey(KEY, { name: 'ci' }),
        apiKey('another-key-of-length', { name: 'tools', scopes: ['tools:invoke'] }),
      ],
    })
    expect((await raw(api, '/', BROWSER)).body.toString()).toBe(PAGE)
    expect((await raw(api, '/', { ...BROWSER, authorization: 'Bearer wrong' })).status).toBe(200)
    for (const path of [SCRIPT, STYLE, FONT_FILE, '/favicon.svg']) {
      expect((await raw(api, path)).status).toBe(200)
    }
    const text = async (headers: Record<string, string>) => (await raw(api, '/', headers)).status
    expect(await text({})).toBe(401)
    expect(await text({ authorization: 'Bearer another-key-of-length' })).toBe(403)
    expect(await text({ authorization: `Bearer ${KEY}` })).toBe(200)
    expect((await raw(api, '/api/runs', BROWSER)).status).toBe(401)
  })

  it('GET / allows the same methods as without a dashboard', async () => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const answer = await raw(api, '/', BROWSER, 'PUT')
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST, HEAD'])
    const call = { jsonrpc: '2.0', id: 1, method: 'nothing' }
    const peer = await fetch(api.url, {
      method: 'POST',
      headers: { ...BROWSER, 'content-type': 'application/json' },
      body: JSON.stringify(call),
    })
    expect(await peer.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32_601 } })
  })
})

describe('the files of the dashboard', () => {
  it.each([
    [SCRIPT, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    [STYLE, 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    [FONT_FILE, 'font/woff2', 'public, max-age=31536000, immutable'],
    ['/favicon.svg', 'image/svg+xml', 'no-cache'],
  ])('%s is %s, cached as %s', async (path, type, kept) => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const { status, headers } = await raw(api, path)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': type,
      'cache-control': kept,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
  })

  it('The files of the dashboard are those that existed at the start of the server, unchanged', async () => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const before = await raw(api, STYLE)
    folder.write('assets/late.js', 'late()')
    folder.remove(STYLE.slice(1))
    folder.write('index.html', 'changed')
    expect((await raw(api, STYLE)).body.equals(before.body)).toBe(true)
    expect((await raw(api, STYLE, { 'accept-encoding': 'gzip' })).status).toBe(200)
    expect((await raw(api, '/assets/late.js')).status).toBe(404)
    expect((await raw(api, '/', BROWSER)).body.toString()).toBe(PAGE)
  })

  it('The files of the dashboard do not shadow a route', async () => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const { body } = await raw(api, '/openapi.json')
    expect(JSON.parse(body.toString())).toMatchObject({ openapi: expect.stringMatching(/^3/) })
  })

  it('The files of the dashboard can only be read', async () => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const { status, headers, body } = await raw(api, SCRIPT, {}, 'POST')
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
    expect(JSON.parse(body.toString())).toMatchObject({ error: 'METHOD_NOT_ALLOWED' })
  })

  it('The files of the dashboard exist at no other path', async () => {
    using folder = dashboardFolder()
    folder.write('assets/.hidden.js', 'hidden()')
    await using api = await openServer({ dashboard: folder.path })
    for (const path of NOWHERE) {
      const { status, headers, body } = await raw(api, path, BROWSER)
      expect([path, status, headers['content-type']]).toEqual([path, 404, 'application/json'])
      expect(JSON.parse(body.toString())).toMatchObject({ error: 'NOT_FOUND' })
    }
  })
})

describe('the page and its files', () => {
  it.each([
    ['/', BROWSER],
    [SCRIPT, {}],
    [FONT_FILE, {}],
  ])('%s returns to HEAD the headers of GET without a body', async (path, headers) => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const [got, head] = [await raw(api, path, headers), await raw(api, path, headers, 'HEAD')]
    expect([head.status, head.body.length]).toEqual([200, 0])
    expect(withoutDate(head.headers)).toEqual(withoutDate(got.headers))
    expect(Number(head.headers['content-length'])).toBe(got.body.length)
  })

  it.each([
    ['/', BROWSER, PAGE_HEADERS],
    [SCRIPT, {}, { 'cache-control': 'public, max-age=31536000, immutable' }],
    ['/favicon.svg', {}, { 'cache-control': 'no-cache' }],
  ])(
    '%s is not sent again to a client that has it, and its headers are unchanged',
    async (path, asked, kept) => {
      using folder = dashboardFolder()
      await using api = await openServer({ dashboard: folder.path })
      const etag = (await raw(api, path, asked)).headers.etag ?? ''
      const again = await raw(api, path, { ...asked, 'if-none-match': etag })
      expect([again.status, again.body.length]).toEqual([304, 0])
      expect(again.headers).toMatchObject({ ...kept, etag })
      const other = await raw(api, path, { ...asked, 'if-none-match': '"other"' })
      expect(other.status).toBe(200)
    },
  )

  it.each([
    ['/', BROWSER],
    [SCRIPT, {}],
    ['/favicon.svg', {}],
  ])('%s is compressed for clients that accept it', async (path, headers) => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const as = (encodings: string) => raw(api, path, { ...headers, 'accept-encoding': encodings })
    const [plain, gzip, brotli] = [await as('identity'), await as('gzip'), await as('gzip, br')]
    const encodings = [plain, gzip, brotli].map((answer) => answer.headers['content-encoding'])
    expect(encodings).toEqual([undefined, 'gzip', 'br'])
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true)
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true)
    expect(new Set([plain, gzip, brotli].map((answer) => answer.headers.etag)).size).toBe(3)
  })

  it('The page and its files do not compress fonts, which are already compressed', async () => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    const { headers, body } = await raw(api, FONT_FILE, { 'accept-encoding': 'gzip, br' })
    expect(headers['content-encoding']).toBeUndefined()
    expect(body.equals(FONT)).toBe(true)
  })

  it.each([
    [{ host: 'evil.example' }, 'HOST_NOT_ALLOWED'],
    [{ origin: 'https://evil.example' }, 'ORIGIN_NOT_ALLOWED'],
  ])('The page and its files are not returned to requests with %j', async (headers, error) => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path })
    for (const path of ['/', SCRIPT]) {
      const { status, body } = await raw(api, path, { ...BROWSER, ...headers })
      expect([status, JSON.parse(body.toString())]).toMatchObject([403, { error }])
    }
  })

  it('The page and its files are not served by a worker', async () => {
    using folder = dashboardFolder()
    await using api = await openServer({ dashboard: folder.path, surface: 'health' })
    for (const path of ['/', SCRIPT, '/favicon.svg']) {
      const { status, body } = await raw(api, path, BROWSER)
      expect([status, body.toString()]).toEqual([404, expect.stringContaining('is a worker')])
    }
  })
})

describe('a server', () => {
  it('A server does not start with a folder without a page, or with a relative path', async () => {
    using folder = dashboardFolder()
    folder.remove('index.html')
    const message = `Cannot serve the dashboard from "${folder.path}": there is no index.html`
    await expect(openServer({ dashboard: folder.path })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message,
    })
    await expect(openServer({ dashboard: 'dist' })).rejects.toThrow(
      'dashboard must be an absolute path, got "dist"',
    )
  })
})

interface Raw {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Returns the response as on the wire, for a path sent unchanged. */
function raw(
  { url }: TestServer,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Raw> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode: status, headers: given } = response
        resolve({ status, headers: given, body: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

function withoutDate({ date: _, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers
}
