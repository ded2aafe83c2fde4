import { expectTypeOf, it } from 'vitest'

import { serpApi } from './search/serp-api.ts'
import { tavily } from './search/tavily.ts'
import { webScrape } from './scrape/web-scrape.ts'
import { webSearch } from './search/web-search.ts'

import type { ToolReturn } from '@tutti/core'
import type { ScrapedPage } from './scrape/web-scrape.ts'
import type { SearchProvider, SearchResult } from './search/search-provider.ts'
import type { SearchOutput } from './search/web-search.ts'

it('The web tools have types for input and output', () => {
  const search = webSearch({ provider: async () => [] })
  expectTypeOf(search.execute).parameter(0).toEqualTypeOf<{ query: string }>()
  expectTypeOf(search.execute).returns.resolves.toEqualTypeOf<ToolReturn<SearchOutput>>()
  expectTypeOf(webScrape().execute).parameter(0).toEqualTypeOf<{ url: string }>()
  expectTypeOf(webScrape().execute).returns.resolves.toEqualTypeOf<ToolReturn<ScrapedPage>>()
})

it('The web tools accept a provider function', () => {
  expectTypeOf(tavily).returns.toEqualTypeOf<SearchProvider>()
  expectTypeOf(serpApi).returns.toEqualTypeOf<SearchProvider>()
  webSearch({
    provider: async (query, { signal, maxResults }) => {
      expectTypeOf(query).toEqualTypeOf<string>()
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      expectTypeOf(maxResults).toEqualTypeOf<number>()
      return [{ title: 'a', url: 'https://a.example', snippet: '' }] satisfies SearchResult[]
    },
  })
  // @ts-expect-error: a result requires a URL.
  webSearch({ provider: async () => [{ title: 'a', snippet: '' }] })
  // @ts-expect-error: a service requires a key.
  tavily({})
  // @ts-expect-error: the provider is required.
  webSearch({})
})
