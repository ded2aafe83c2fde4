/** Tavily, a search service made for agents. @see https://docs.tavily.com/documentation/api-reference/endpoint/search */
import { readSearchResults } from './search-results.ts'
import { searchService, type SearchServiceOptions } from './search-service.ts'

import type { SearchProvider } from './search-provider.ts'

/** Maximum number of results of one request to the service. */
const MAX_RESULTS = 20

/**
 * Creates a search provider that uses Tavily.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function tavily(options: SearchServiceOptions): SearchProvider {
  const service = searchService({ name: 'Tavily', baseUrl: 'https://api.tavily.com' }, options)
  return async (query, { signal, maxResults }) => {
    const response = await service.ask({
      path: 'search',
      headers: { authorization: `Bearer ${options.apiKey}` },
      body: { query, search_depth: 'basic', max_results: Math.min(maxResults, MAX_RESULTS) },
      signal,
    })
    return readSearchResults(response, { list: 'results', url: 'url', snippet: 'content' })
  }
}
