/** The web_search tool. */
import { defineTool, ToolResult, Type, type TypedTool } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { resolveWebSearchOptions, type SearchInput, type WebSearchOptions } from './options.ts'
import { formatResults } from './search-results.ts'

import type { SearchResult } from './search-provider.ts'

/** The structured result of `web_search`. */
export interface SearchOutput {
  results: SearchResult[]
}

const Input = Type.Object({
  query: Type.String({ description: 'What to search for, in a few words' }),
})

const Output = Type.Object({
  results: Type.Array(
    Type.Object({ title: Type.String(), url: Type.String(), snippet: Type.String() }),
  ),
})

/**
 * Creates the tool `web_search`.
 *
 * @throws {TypeError} when the provider is missing.
 * @throws {RangeError} when `maxResults` is invalid.
 */
export function webSearch(options: WebSearchOptions): TypedTool<SearchInput, SearchOutput> {
  const { provider, maxResults, settings } = resolveWebSearchOptions(options)
  return defineTool({
    ...settings,
    input: Input,
    output: Output,
    async execute({ query }, { signal }) {
      const asked = query.trim()
      if (asked === '') return ToolResult.failure('Search query must not be blank')
      try {
        const found = await provider(asked, { signal, maxResults })
        const results = found.slice(0, maxResults)
        const output =
          results.length === 0 ? `No results found for: ${asked}` : formatResults(results)
        return ToolResult.success(output, { results })
      } catch (error) {
        return ToolResult.failure(`Search failed: ${errorMessage(error)}`)
      }
    },
  })
}
