import { describe, expect, it } from 'vitest'

import { createDocumentHandler, type DocumentParts } from './document-handler.ts'

const HEADERS = {
  'content-type': 'text/plain',
  'cache-control': 'no-cache',
  'content-security-policy': "default-src 'self'",
}

describe('createDocumentHandler', () => {
  it('[API-F1] createDocumentHandler returns 304 without reading the bytes again', async () => {
    const { answer, made } = createCountedHandler()
    const etag = (await answer(createRequest({}))).headers.get('etag') ?? ''
    const before = made()
    const again = await answer(createRequest({ 'if-none-match': etag }))
    expect([again.status, again.headers.get('cache-control'), made()]).toEqual([
      304,
      'no-cache',
      before,
    ])
    expect(again.headers.get('content-type')).toBeNull()
    expect(again.headers.get('content-security-policy')).toBe("default-src 'self'")
  })

  it('[API-F2] createDocumentHandler gives each form its own ETag, which matches only that form', async () => {
    const { answer } = createCountedHandler()
    const plain = (await answer(createRequest({}))).headers.get('etag') ?? ''
    const gzip = await answer(createRequest({ 'accept-encoding': 'gzip', 'if-none-match': plain }))
    expect([gzip.status, gzip.headers.get('etag')]).toEqual([200, plain.replace(/"$/, '-gzip"')])
  })

  it('[API-F3] createDocumentHandler builds the document again after a failure', async () => {
    let isThere = false
    const answer = createDocumentHandler({
      source: () =>
        isThere ? Promise.resolve(new Uint8Array([1])) : Promise.reject(new Error('away')),
      headers: HEADERS,
    })
    await expect(answer(createRequest({}))).rejects.toThrow('away')
    isThere = true
    expect((await answer(createRequest({}))).status).toBe(200)
  })

  it('createDocumentHandler compresses once', async () => {
    const { answer, made } = createCountedHandler()
    await answer(createRequest({ 'accept-encoding': 'br' }))
    const before = made()
    await Promise.all([1, 2, 3].map(() => answer(createRequest({ 'accept-encoding': 'br' }))))
    expect(made()).toBe(before)
  })

  it('createDocumentHandler does not compress content that is already compressed', async () => {
    const { answer } = createCountedHandler({ isCompressed: true })
    const plain = await answer(createRequest({}))
    const response = await answer(createRequest({ 'accept-encoding': 'gzip, br' }))
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(response.headers.get('vary')).toBe('Origin')
    expect(response.headers.get('etag')).toBe(plain.headers.get('etag'))
    expect(await response.text()).toBe(await plain.text())
  })

  it('createDocumentHandler sets Vary to the headers that select the document, also with 304', async () => {
    const { answer } = createCountedHandler({ varies: ['accept'] })
    const first = await answer(createRequest({}))
    const etag = first.headers.get('etag') ?? ''
    const again = await answer(createRequest({ 'if-none-match': etag }))
    expect([again.status, again.headers.get('vary')]).toEqual([304, first.headers.get('vary')])
    expect(again.headers.get('vary')).toBe('Origin, accept-encoding, accept')
  })

  it.each([
    [undefined, null],
    ['', null],
    ['identity', null],
    ['deflate', null],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['gzip, br', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br; q=0.000', null],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['br;q=0.9, gzip;q=0.9', 'br'],
    ['*', 'br'],
    ['*;q=0', null],
  ])(
    'createDocumentHandler selects the encoding for "Accept-Encoding: %j": %j',
    async (accepted, encoding) => {
      const { answer } = createCountedHandler()
      const asked = accepted === undefined ? {} : { 'accept-encoding': accepted }
      const response = await answer(createRequest(asked))
      expect(response.headers.get('content-encoding')).toBe(encoding)
      expect(response.headers.get('vary')).toBe('Origin, accept-encoding')
    },
  )
})

function createCountedHandler(parts: Partial<DocumentParts> = {}) {
  let made = 0
  const source = (): Promise<Uint8Array<ArrayBuffer>> => {
    made += 1
    return Promise.resolve(new TextEncoder().encode('text '.repeat(100)))
  }
  return { answer: createDocumentHandler({ source, headers: HEADERS, ...parts }), made: () => made }
}

function createRequest(headers: Record<string, string>): Request {
  return new Request('http://localhost/document', { headers })
}
