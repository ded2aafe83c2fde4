import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'node:http'

import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'

import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { buildAsyncApiDocument } from '../src/documents/async-api-document.ts'
import { buildOpenApiDocument } from '../src/documents/open-api-document.ts'
import { openServer } from './open-server.ts'

const DOCUMENTS = ['/openapi.json', '/asyncapi.json', '/docs', '/docs/reference.js']

describe('the documents', () => {
  it('The documents match the schemas of the protocol', async () => {
    await using api = await openServer()
    expect(await (await api.get('/openapi.json')).json()).toEqual(
      copyAsJson(buildOpenApiDocument(EXTENSIONS)),
    )
    expect(await (await api.get('/asyncapi.json')).json()).toEqual(
      copyAsJson(buildAsyncApiDocument(EXTENSIONS)),
    )
  })

  it.each(DOCUMENTS)('%s is public, also with configured keys', async (path) => {
    await using api = await openServer({
      apiKeys: [apiKey('a-key-of-some-length', { name: 'ci' })],
    })
    expect((await api.get(path)).status).toBe(200)
    expect((await api.get('/api/runs')).status).toBe(401)
  })

  it.each(DOCUMENTS)('%s is not sent again to a client that has it', async (path) => {
    await using api = await openServer()
    const etag = (await api.get(path)).headers.get('etag') ?? ''
    for (const named of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await api.get(path, { headers: { 'if-none-match': named } })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
    }
    const other = await api.get(path, { headers: { 'if-none-match': '"other"' } })
    expect(other.status).toBe(200)
  })

  it.each(DOCUMENTS)('%s is compressed with a stable ETag per encoding', async (path) => {
    await using api = await openServer()
    const plain = await raw(`${api.url}${path}`, 'identity')
    const gzip = await raw(`${api.url}${path}`, 'gzip')
    const brotli = await raw(`${api.url}${path}`, 'gzip, br')
    expect([plain, gzip, brotli].map(({ encoding }) => encoding)).toEqual([undefined, 'gzip', 'br'])
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true)
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true)
    expect(new Set([plain, gzip, brotli].map(({ etag }) => etag)).size).toBe(3)
    expect((await raw(`${api.url}${path}`, 'br;q=0, *')).encoding).toBe('gzip')
  })
})

describe('the page at /docs', () => {
  it('The document that /docs shows links to the documentation site', async () => {
    await using api = await openServer()
    const { info, externalDocs } = await (await api.get('/openapi.json')).json()
    expect(externalDocs.url).toBe('https://tutti-dev.github.io/tutti/')
    expect(info.description).toContain(`[documentation](${externalDocs.url})`)
  })

  it('The page at /docs refers to no other server', async () => {
    await using api = await openServer()
    const page = await (await api.get('/docs')).text()
    expect(page).not.toMatch(/https?:|\/\/[a-z]/)
  })

  it('The page at /docs may run only its own scripts, and connect only to its server', async () => {
    await using api = await openServer()
    const response = await api.get('/docs')
    const [, inline = ''] = /<script>([^]*?)<\/script>/.exec(await response.text()) ?? []
    const hash = createHash('sha256').update(inline).digest('base64')
    const policy = response.headers.get('content-security-policy')?.split('; ')
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}'`)
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("connect-src 'self'")
    expect(inline).toContain('Scalar.createApiReference')
  })

  it('The page at /docs loads the script of the package, which may be cached for long', async () => {
    await using api = await openServer()
    const response = await api.get('/docs/reference.js')
    const file = new URL('./browser/standalone.js', import.meta.resolve('@scalar/api-reference'))
    expect(Buffer.from(await response.arrayBuffer()).equals(readFileSync(file))).toBe(true)
    expect(response.headers.get('cache-control')).toBe('public, max-age=604800')
  })
})

interface Raw {
  readonly encoding: string | undefined
  readonly etag: string | undefined
  readonly body: Buffer
}

/** Returns the response as on the wire; `fetch` would decompress it. */
function raw(url: string, encodings: string): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { 'accept-encoding': encodings } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { etag, 'content-encoding': encoding } = response.headers
        resolve({ encoding, etag, body: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

function copyAsJson(document: object): unknown {
  return JSON.parse(JSON.stringify(document))
}
