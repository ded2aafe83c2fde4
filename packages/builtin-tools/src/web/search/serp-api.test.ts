import { describe, expect, it } from 'vitest'

import { localServer, type LocalServer } from '../../../../../tooling/test-kit/local-server.ts'
import { serpApi } from './serp-api.ts'

const KEY = 'serp-secret&key=1'
const { signal } = new AbortController()

describe('serpApi', () => {
  it('serpApi sends the request of the service and reads its response', async () => {
    const server = await service()
    const search = serpApi({ apiKey: KEY, baseUrl: server.origin })
    expect(await search('größe & "x"', { signal, maxResults: 5 })).toEqual([
      { title: 'Coffee', url: 'https://a.example/coffee', snippet: 'A drink' },
      { title: 'Tea', url: 'https://a.example/tea', snippet: '' },
    ])
    const [request] = server.requests
    const url = new URL(request?.url ?? '', server.origin)
    expect(request?.method).toBe('GET')
    expect(url.pathname).toBe('/search.json')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      engine: 'google',
      q: 'größe & "x"',
      api_key: KEY,
    })
    expect(request?.headers).not.toHaveProperty('content-type')
  })

  it('serpApi requests a longer page only when needed', async () => {
    const server = await service()
    const search = serpApi({ apiKey: KEY, baseUrl: server.origin })
    await search('x', { signal, maxResults: 10 })
    await search('x', { signal, maxResults: 30 })
    expect(
      server.requests.map(({ url }) => new URL(url, server.origin).searchParams.get('num')),
    ).toEqual([null, '30'])
  })

  it('serpApi returns no results when Google has none', async () => {
    const server = await service()
    const search = serpApi({ apiKey: KEY, baseUrl: server.origin })
    expect(await search('nothing', { signal, maxResults: 5 })).toEqual([])
  })

  it('serpApi reports a refused key without the key', async () => {
    const server = await service()
    const search = serpApi({ apiKey: 'wrong-key', baseUrl: server.origin })
    await expect(search('x', { signal, maxResults: 5 })).rejects.toThrow(
      new Error(
        'SerpAPI refused the API key (HTTP 401): Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key',
      ),
    )
  })

  it('serpApi reports that the limit of searches is reached', async () => {
    const server = await localServer((response) => {
      response.writeHead(429).end('{"error":"Your account has run out of searches."}')
    })
    const search = serpApi({ apiKey: KEY, baseUrl: server.origin })
    await expect(search('x', { signal, maxResults: 5 })).rejects.toThrow(
      new Error(
        'SerpAPI refused the search because of its rate limit (HTTP 429): Your account has run out of searches.',
      ),
    )
  })

  it('serpApi fails with the reason of a search that failed', async () => {
    const server = await localServer((response) => {
      response.end(`{"search_metadata":{"status":"Error"},"error":"No luck with ${KEY}"}`)
    })
    const search = serpApi({ apiKey: KEY, baseUrl: server.origin })
    await expect(search('x', { signal, maxResults: 5 })).rejects.toThrow('No luck with')
  })

  it('serpApi never puts the key into errors, although it is in the URL', async () => {
    const search = serpApi({ apiKey: KEY, baseUrl: 'http://127.0.0.1:1' })
    const error = await search('x', { signal, maxResults: 5 }).catch(String)
    expect(error).toContain('Request to http://127.0.0.1:1 failed')
    expect(error).not.toContain('secret')
  })
})

/** Starts a server that responds like the service. */
function service(): Promise<LocalServer> {
  return localServer((response, { method, url }) => {
    response.setHeader('content-type', 'application/json')
    const { pathname, searchParams: query } = new URL(url, 'http://local')
    if (method !== 'GET' || pathname !== '/search.json' || query.get('engine') !== 'google') {
      response.writeHead(404).end('{"error":"Not found"}')
    } else if (query.get('api_key') !== KEY) {
      const error =
        'Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key'
      response.writeHead(401).end(JSON.stringify({ error }))
    } else {
      response.end(JSON.stringify(answerTo(query.get('q'))))
    }
  })
}

function answerTo(query: string | null): object {
  const search_metadata = { id: '1', status: 'Success' }
  if (query === 'nothing') {
    return {
      search_metadata,
      search_information: { organic_results_state: 'Fully empty' },
      error: "Google hasn't returned any results for this query.",
    }
  }
  return {
    search_metadata,
    search_parameters: { engine: 'google', q: query },
    organic_results: [
      { position: 1, title: 'Coffee', link: 'https://a.example/coffee', snippet: 'A drink' },
      { position: 2, title: 'Tea', link: 'https://a.example/tea' },
    ],
  }
}
