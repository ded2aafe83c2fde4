import { runTool, toModelText, toolContext, type ToolResult } from '@tutti/core'
import { describe, expect, it, vi } from 'vitest'

import { webSearch } from './web-search.ts'

import type { SearchProvider, SearchResult } from './search-provider.ts'

const RESULTS: readonly SearchResult[] = Array.from({ length: 8 }, (_, n) => ({
  title: `Title ${n + 1}`,
  url: `https://a.example/${n + 1}`,
  snippet: `What it says, ${n + 1}`,
}))

describe('web_search', () => {
  it('web_search returns a numbered list, and the results as structured output', async () => {
    const result = await search(async () => RESULTS.slice(0, 2))
    expect(result).toEqual({
      success: true,
      output: `1. Title 1
   URL: https://a.example/1
   What it says, 1

2. Title 2
   URL: https://a.example/2
   What it says, 2`,
      structured: { results: RESULTS.slice(0, 2) },
    })
  })

  it('web_search requests and returns five results or the configured number', async () => {
    const provider = vi.fn<SearchProvider>(async () => RESULTS)
    expect((await search(provider)).structured).toEqual({ results: RESULTS.slice(0, 5) })
    expect((await search(provider, 7)).structured).toEqual({ results: RESULTS.slice(0, 7) })
    expect(provider.mock.calls.map(([query, { maxResults }]) => [query, maxResults])).toEqual([
      ['words', 5],
      ['words', 7],
    ])
  })

  it('web_search reports when there are no results', async () => {
    expect(await search(async () => [])).toEqual({
      success: true,
      output: 'No results found for: words',
      structured: { results: [] },
    })
  })

  it.each([
    ['an error', new Error('the index is down'), 'the index is down'],
    ['an error without a message', new TypeError(''), 'TypeError'],
    ['a text', 'no luck', 'no luck'],
    ['anything else', undefined, 'Unknown error'],
  ])('web_search reports why it failed: %s', async (_, thrown, reason) => {
    const result = await search(() => Promise.reject(thrown))
    expect(result).toEqual({ success: false, output: '', errorMessage: `Search failed: ${reason}` })
  })

  it('web_search has its name and checks its schema', async () => {
    const tool = webSearch({ provider: async () => RESULTS.slice(0, 1) })
    const call = (args: unknown): Promise<string> =>
      runTool(tool, { id: '1', name: tool.name, arguments: JSON.stringify(args) }).then(
        ({ result }) => toModelText(result),
      )
    expect(tool).toMatchObject({ name: 'web_search', kind: 'typed', timeoutMs: 20_000 })
    expect(tool.outputSchema).toMatchObject({ properties: { results: { type: 'array' } } })
    expect(await call({ query: 'words' })).toContain('1. Title 1')
    expect(await call({})).toBe('Error: Invalid input for "web_search": /query is required')
    expect(await call({ query: ' \n' })).toBe('Error: Search query must not be blank')
  })

  it('web_search passes on the signal of the call', async () => {
    const caller = new AbortController()
    const tool = webSearch({
      provider: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')))
          caller.abort()
        }),
    })
    const call = { id: '1', name: tool.name, arguments: '{"query":"words"}' }
    expect(await runTool(tool, call, { signal: caller.signal })).toMatchObject({ end: 'cancelled' })
  })

  it('web_search accepts the settings of every tool', () => {
    const tool = webSearch({
      provider: async () => [],
      name: 'find',
      timeoutMs: 5,
      idempotent: false,
    })
    expect(tool).toMatchObject({ name: 'find', timeoutMs: 5, idempotent: false })
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity])(
    'web_search refuses maxResults of %s',
    (maxResults) => {
      expect(() => webSearch({ provider: async () => [], maxResults })).toThrow(
        new RangeError(
          `Cannot define tool "web_search": maxResults must be an integer >= 1, got ${maxResults}`,
        ),
      )
    },
  )

  it('web_search requires a provider', () => {
    // @ts-expect-error: the compiler also rejects it.
    expect(() => webSearch({})).toThrow(
      new TypeError(
        'Cannot define tool "web_search": provider must be a function, such as tavily({ apiKey })',
      ),
    )
  })
})

async function search(provider: SearchProvider, maxResults?: number): Promise<ToolResult> {
  const tool = webSearch({ provider, ...(maxResults === undefined ? {} : { maxResults }) })
  const returned: unknown = await tool.execute({ query: ' words ' }, toolContext())
  // NOTE: the body of this tool returns only results.
  return returned as ToolResult
}
