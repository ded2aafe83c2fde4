/** The options of `web_scrape`, with their defaults and checks. */
import type { ToolSettings } from '@tutti/core'
import { assertKnownOptions, TOOL_SETTING_NAMES, type OptionNames } from '@tutti/core/internal'
import { networkGuard, type NetworkGuard, type NetworkGuardOptions } from '@tutti/net/internal'

/** Arguments of `web_scrape`. */
export interface ScrapeInput {
  url: string
}

/** Settings of `web_scrape`, in addition to those of every tool. */
export interface WebScrapeOptions
  extends NetworkGuardOptions, Partial<Omit<ToolSettings<ScrapeInput>, 'timeoutMs'>> {
  /** Maximum number of bytes of a page to read. @default 5242880 */
  readonly maxBytes?: number
  /** Maximum number of characters of text that the model gets; a negative number means no limit. @default 5000 */
  readonly maxChars?: number
  /** Time limit for fetching a page, in milliseconds. @default 15000 */
  readonly timeoutMs?: number
  /** Maximum number of redirects to follow. @default 10 */
  readonly maxRedirects?: number
  /** Whether the text contains the target of each link. @default false */
  readonly links?: boolean
}

/** Limits and format of the text of a page. */
export type ScrapeLimits = Pick<ResolvedWebScrapeOptions, 'maxBytes' | 'maxChars' | 'links'>

/** {@link WebScrapeOptions} with their defaults. */
export interface ResolvedWebScrapeOptions {
  readonly guard: NetworkGuard
  readonly maxBytes: number
  readonly maxChars: number
  readonly timeoutMs: number
  readonly maxRedirects: number
  readonly links: boolean
  readonly settings: ToolSettings<ScrapeInput>
}

const OPTION_NAMES = {
  ...TOOL_SETTING_NAMES,
  maxBytes: true,
  maxChars: true,
  maxRedirects: true,
  links: true,
  allow: true,
  resolve: true,
} as const satisfies OptionNames<WebScrapeOptions>

const SCRAPE_DEFAULTS = {
  name: 'web_scrape',
  description: 'Fetches a web page and returns its readable text, with the title first',
  maxBytes: 5 * 1_048_576,
  maxChars: 5000,
  timeoutMs: 15_000,
  // The default of every guarded request.
  maxRedirects: 10,
  links: false,
} as const

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} naming every invalid rule of `allow`.
 * @throws {RangeError} naming every invalid limit.
 */
export function resolveWebScrapeOptions(options: WebScrapeOptions): ResolvedWebScrapeOptions {
  assertKnownOptions('Cannot define tool "web_scrape":', options, OPTION_NAMES)
  const { allow, resolve, maxBytes, maxChars, timeoutMs, maxRedirects, links, ...settings } = {
    ...SCRAPE_DEFAULTS,
    ...options,
  }
  assertLimits(settings.name, { maxBytes, maxChars, maxRedirects, timeoutMs })
  const guard = networkGuard({ ...(allow && { allow }), ...(resolve && { resolve }) })
  return { guard, maxBytes, maxChars, timeoutMs, maxRedirects, links, settings }
}

type Limits = Pick<ResolvedWebScrapeOptions, 'maxBytes' | 'maxChars' | 'maxRedirects' | 'timeoutMs'>

function assertLimits(tool: string, { maxBytes, maxChars, maxRedirects, timeoutMs }: Limits): void {
  const isInteger = Number.isInteger
  const problems = [
    isInteger(maxBytes) && maxBytes >= 1 ? '' : `maxBytes must be an integer >= 1, got ${maxBytes}`,
    isInteger(maxChars) ? '' : `maxChars must be an integer, got ${maxChars}`,
    isInteger(maxRedirects) && maxRedirects >= 0
      ? ''
      : `maxRedirects must be an integer >= 0, got ${maxRedirects}`,
    timeoutMs > 0 ? '' : `timeoutMs must be > 0, got ${timeoutMs}`,
  ].filter((problem) => problem !== '')
  if (problems.length === 0) return
  throw new RangeError(`Cannot define tool ${JSON.stringify(tool)}: ${problems.join('; ')}`)
}
