/** The options of `web_search`, with their defaults and checks. */
import {
  assertKnownOptions,
  TOOL_SETTING_NAMES,
  type OptionNames,
  type ToolSettings,
} from '@tutti/core'

import type { SearchProvider } from './search-provider.ts'

/** What the model gives to `web_search`. */
export interface SearchInput {
  query: string
}

/** Settings of `web_search`; those of every tool besides. */
export interface WebSearchOptions extends Partial<ToolSettings<SearchInput>> {
  /** Who searches: `tavily(…)`, `serpApi(…)`, or a function of your own. */
  readonly provider: SearchProvider
  /** Results that the model gets, at most. @default 5 */
  readonly maxResults?: number
}

/** Options with nothing left out. */
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
  // AgentEnsemble's.
  maxResults: 5,
  // The services have 15 s; what they then say should be heard.
  timeoutMs: 20_000,
} as const

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} when there is no provider.
 * @throws {RangeError} when `maxResults` does not fit.
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
