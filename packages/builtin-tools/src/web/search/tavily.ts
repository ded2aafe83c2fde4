/** Tavily, a search service made for agents. @see https://docs.tavily.com/documentation/api-reference/endpoint/search */
import { searchResults } from './search-results.ts'
import { searchService, type SearchServiceOptions } from './search-service.ts'

import type { SearchProvider } from './search-provider.ts'

/** The service gives no more at once. */
const MAX_RESULTS = 20

/**
 * Searches with Tavily.
 *
 * @throws {TypeError} naming every option that does not fit.
 */
export function tavily(options: SearchServiceOptions): SearchProvider {
  const service = searchService({ name: 'Tavily', baseUrl: 'https://api.tavily.com' }, options)
  return async (query, { signal, maxResults }) => {
    const answer = await service.ask({
      path: 'search',
      headers: { authorization: `Bearer ${options.apiKey}` },
      body: { query, search_depth: 'basic', max_results: Math.min(maxResults, MAX_RESULTS) },
      signal,
    })
    return searchResults(answer, { list: 'results', url: 'url', snippet: 'content' })
  }
}
