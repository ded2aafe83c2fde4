/** The options of `web_search`, with their defaults and checks. */
import type { ToolSettings } from '@tutti/core'
import { assertKnownOptions, TOOL_SETTING_NAMES, type OptionNames } from '@tutti/core/internal'

import type { SearchProvider } from './search-provider.ts'

/** Arguments of `web_search`. */
export interface SearchInput {
  query: string
}

/** Settings of `web_search`, in addition to those of every tool. */
export interface WebSearchOptions extends Partial<ToolSettings<SearchInput>> {
  /** Search provider: `tavily(…)`, `serpApi(…)`, or your own function. */
  readonly provider: SearchProvider
  /** Maximum number of results that the model gets. @default 5 */
  readonly maxResults?: number
}

/** {@link WebSearchOptions} with their defaults. */
export interface ResolvedWebSearchOptions {
  readonly provider: SearchProvider
  readonly maxResults: number
  readonly settings: ToolSettings<SearchInput>
}

const OPTION_NAMES = {
  ...TOOL_SETTING_NAMES,
  provider: true,
  maxResults: true,
} as const satisfies OptionNames<WebSearchOptions>

const SEARCH_DEFAULTS = {
  name: 'web_search',
  description: 'Searches the web and returns title, URL and a snippet of each result',
  maxResults: 5,
  // Longer than the 15 s of the services, so that their errors reach the model.
  timeoutMs: 20_000,
} as const

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} when the provider is missing.
 * @throws {RangeError} when `maxResults` is invalid.
 */
export function resolveWebSearchOptions(options: WebSearchOptions): ResolvedWebSearchOptions {
  assertKnownOptions('Cannot define tool "web_search":', options, OPTION_NAMES)
  const { provider, maxResults, ...settings } = { ...SEARCH_DEFAULTS, ...options }
  const name = JSON.stringify(settings.name)
  if (typeof provider !== 'function') {
    throw new TypeError(
      `Cannot define tool ${name}: provider must be a function, such as tavily({ apiKey })`,
    )
  }
  if (!Number.isInteger(maxResults) || maxResults < 1) {
    throw new RangeError(
      `Cannot define tool ${name}: maxResults must be an integer >= 1, got ${maxResults}`,
    )
  }
  return { provider, maxResults, settings }
}
