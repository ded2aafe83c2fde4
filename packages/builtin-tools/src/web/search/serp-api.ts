/** SerpAPI, which searches with Google. @see https://serpapi.com/search-api */
import { readSearchResults } from './search-results.ts'
import { searchService, type SearchServiceOptions } from './search-service.ts'

import type { SearchProvider } from './search-provider.ts'

/** Number of results of a Google page; requests for fewer sometimes return none. */
const PAGE_SIZE = 10

/**
 * Creates a search provider that uses SerpAPI.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function serpApi(options: SearchServiceOptions): SearchProvider {
  const service = searchService({ name: 'SerpAPI', baseUrl: 'https://serpapi.com' }, options)
  return async (query, { signal, maxResults }) => {
    const response = await service.ask({
      path: 'search.json',
      query: {
        engine: 'google',
        q: query,
        ...(maxResults > PAGE_SIZE ? { num: String(maxResults) } : {}),
        api_key: options.apiKey,
      },
      signal,
    })
    return readSearchResults(response, { list: 'organic_results', url: 'link', snippet: 'snippet' })
  }
}
