import { describe, expect, it } from 'vitest'

import {
  localServer,
  type LocalServer,
  type ReceivedRequest,
} from '../../../../../tooling/test-kit/local-server.ts'
import { tavily } from './tavily.ts'

import type { ServerResponse } from 'node:http'

const KEY = 'tvly-secret/key+1'
const { signal } = new AbortController()

describe('tavily', () => {
  it('`tavily` sends the request of the service and reads its response', async () => {
    const server = await service()
    const search = tavily({ apiKey: KEY, baseUrl: server.origin })
    expect(await search('größe "x"', { signal, maxResults: 3 })).toEqual([
      { title: 'Result 1', url: 'https://a.example/1', snippet: 'About größe "x"' },
      { title: 'Result 2', url: 'https://a.example/2', snippet: 'About größe "x"' },
      { title: 'Result 3', url: 'https://a.example/3', snippet: 'About größe "x"' },
    ])
    const [request] = server.requests
    expect(request?.method).toBe('POST')
    expect(request?.url).toBe('/search')
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      accept: 'application/json',
    })
    expect(JSON.parse(request?.body ?? '')).toEqual({
      query: 'größe "x"',
      search_depth: 'basic',
      max_results: 3,
    })
  })

  it('`tavily` requests no more results than the service returns', async () => {
    const server = await service()
    const search = tavily({ apiKey: KEY, baseUrl: server.origin })
    expect(await search('x', { signal, maxResults: 50 })).toHaveLength(20)
  })

  it('`tavily` can have a base URL with a path', async () => {
    const server = await service('/proxy/v1/search')
    for (const end of ['', '/']) {
      const search = tavily({ apiKey: KEY, baseUrl: `${server.origin}/proxy/v1${end}` })
      expect(await search('x', { signal, maxResults: 1 })).toHaveLength(1)
    }
  })

  it('`tavily` reports a refused key without the key', async () => {
    const server = await service()
    const search = tavily({ apiKey: 'wrong-key', baseUrl: server.origin })
    await expect(search('x', { signal, maxResults: 1 })).rejects.toThrow(
      /^Tavily refused the API key \(HTTP 401\): Unauthorized: missing or invalid API key\.$/,
    )
  })

  it.each([
    [
      429,
      'Tavily refused the search because of its rate limit (HTTP 429): Too fast; try again in 30 s',
    ],
    [432, 'Tavily refused the search because of a plan limit (HTTP 432): Too fast'],
    [433, 'Tavily refused the search because of a plan limit (HTTP 433): Too fast'],
    [403, 'Tavily refused the API key (HTTP 403): Too fast'],
    [500, 'Tavily returned HTTP 500: Too fast'],
  ])('`tavily` explains HTTP %i', async (status, message) => {
    const server = await answering((response) => {
      const headers = { 'content-type': 'application/json', 'retry-after': '30' }
      response.writeHead(status, headers).end('{"detail":{"error":"Too fast"}}')
    })
    await expect(searchAt(server)).rejects.toThrow(new Error(message))
  })

  it.each([
    ['a reason as text', '{"detail":"Query is too long"}', ': Query is too long'],
    ['problems in a list', '{"detail":[{"msg":"bad"}]}', ': {"detail":[{"msg":"bad"}]}'],
    [
      'a page of a proxy',
      `<h1>Bad\n Gateway</h1>${'x'.repeat(500)}`,
      /: <h1>Bad Gateway<\/h1>x{280}…$/,
    ],
    ['nothing', '', ''],
    ['a number', '5', ': 5'],
  ])('`tavily` reports the reason of the service: %s', async (_, body, reason) => {
    const server = await answering((response) => response.writeHead(400).end(body))
    await expect(searchAt(server)).rejects.toThrow(
      typeof reason === 'string' ? new Error(`Tavily returned HTTP 400${reason}`) : reason,
    )
  })

  it.each([KEY, encodeURIComponent(KEY)])(
    '`tavily` never puts the key into errors: %s',
    async (key) => {
      const server = await answering((response) => {
        response.writeHead(400).end(`{"detail":"No such key: ${key}, really: ${key}"}`)
      })
      const error = await searchAt(server).catch((error: unknown) => error)
      expect(error).toEqual(
        new Error('Tavily returned HTTP 400: No such key: [API key], really: [API key]'),
      )
      expect(error).not.toHaveProperty('cause')
    },
  )

  it.each([
    ['no JSON', 'Hello', 'Tavily did not return JSON: Hello'],
    ['nothing', '', 'Tavily did not return JSON: '],
    ['no results', '{"answer":"x"}', 'the response has no "results"'],
    [
      'an endless list',
      `[${'1,'.repeat(2_000_000)}`,
      'The response of Tavily is larger than 2097152 bytes',
    ],
  ])('`tavily` fails when a successful response has %s', async (_, body, message) => {
    const server = await answering((response) => response.end(body))
    await expect(searchAt(server)).rejects.toThrow(new Error(message))
  })

  it('`tavily` does not follow redirects', async () => {
    const server = await answering((response) => {
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    await expect(searchAt(server)).rejects.toThrow('Tavily returned HTTP 307')
    expect(server.requests).toHaveLength(1)
  })

  it('`tavily` ends at its time limit and when the caller aborts', async () => {
    const server = await answering(() => undefined)
    const search = tavily({ apiKey: KEY, baseUrl: server.origin, timeoutMs: 50 })
    await expect(search('x', { signal, maxResults: 1 })).rejects.toThrow(
      `Request to ${server.origin} timed out after 50 ms`,
    )
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(search('x', { signal: aborted, maxResults: 1 })).rejects.toThrow('enough')
  })

  it.each([undefined, 'https://proxy.example/a', 'http://proxy.example', 'http://[::1]:8080'])(
    '`tavily` accepts any configured host: %s',
    async (baseUrl) => {
      const search = tavily({ apiKey: KEY, ...(baseUrl === undefined ? {} : { baseUrl }) })
      const aborted = AbortSignal.abort(new Error('it got past the guard'))
      await expect(search('x', { signal: aborted, maxResults: 1 })).rejects.toThrow(
        'it got past the guard',
      )
    },
  )

  it('`tavily` names every invalid option', () => {
    expect(() => tavily({ apiKey: ' ', baseUrl: 'ftp://x', timeoutMs: 0 })).toThrow(
      new TypeError(
        'Cannot use Tavily: apiKey must not be blank; baseUrl must be an http or https URL, got "ftp://x"; timeoutMs must be > 0, got 0',
      ),
    )
    expect(() => tavily({ apiKey: 'k', baseUrl: 'nowhere' })).toThrow('got "nowhere"')
  })
})

/** Starts a server that responds like the service. */
function service(path = '/search'): Promise<LocalServer> {
  return localServer((response, request) => {
    response.setHeader('content-type', 'application/json')
    const { headers, method, url } = request
    if (method !== 'POST' || url !== path) {
      response.writeHead(404).end('{"detail":"Not Found"}')
    } else if (headers.authorization !== `Bearer ${KEY}`) {
      response.writeHead(401)
      response.end('{"detail":{"error":"Unauthorized: missing or invalid API key."}}')
    } else {
      response.end(JSON.stringify(answerTo(request)))
    }
  })
}

function answerTo({ body }: ReceivedRequest): object {
  const { query, max_results: count }: { query: string; max_results: number } = JSON.parse(body)
  const results = Array.from({ length: count }, (_, n) => ({
    title: `Result ${n + 1}`,
    url: `https://a.example/${n + 1}`,
    content: `About ${query}`,
    score: 0.9,
    raw_content: null,
  }))
  return { query, answer: null, images: [], results, response_time: 0.5, request_id: 'r' }
}

function answering(answer: (response: ServerResponse) => void): Promise<LocalServer> {
  return localServer((response) => {
    answer(response)
  })
}

function searchAt({ origin }: LocalServer): Promise<unknown> {
  return tavily({ apiKey: KEY, baseUrl: origin })('x', { signal, maxResults: 5 })
}
