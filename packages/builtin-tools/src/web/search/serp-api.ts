/** SerpAPI, which asks Google. @see https://serpapi.com/search-api */
import { searchResults } from './search-results.ts'
import { searchService, type SearchServiceOptions } from './search-service.ts'

import type { SearchProvider } from './search-provider.ts'

/** Results of a page of Google. To ask for fewer makes it say now and then that there are none. */
const PAGE_SIZE = 10

/**
 * Searches with SerpAPI.
 *
 * @throws {TypeError} naming every option that does not fit.
 */
export function serpApi(options: SearchServiceOptions): SearchProvider {
  const service = searchService({ name: 'SerpAPI', baseUrl: 'https://serpapi.com' }, options)
  return async (query, { signal, maxResults }) => {
    const answer = await service.ask({
      path: 'search.json',
      query: {
        engine: 'google',
        q: query,
        ...(maxResults > PAGE_SIZE ? { num: String(maxResults) } : {}),
        api_key: options.apiKey,
      },
      signal,
    })
    return searchResults(answer, { list: 'organic_results', url: 'link', snippet: 'snippet' })
  }
}
