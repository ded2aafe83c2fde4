/**
 * The web_scrape tool.
 *
 * TOOLS-W1 The guard limits it to the public internet and the hosts that `allow` names.
 * TOOLS-W2 The text states what was omitted: the page after `maxBytes`, its text after `maxChars`.
 * TOOLS-W3 A page that cannot be read is a failed result with the reason.
 * TOOLS-W4 A page is read in another thread, within limits of time and memory.
 */
import { defineTool, ToolResult, Type, type TypedTool } from '@tutti/core'
import { errorMessage, limitText } from '@tutti/core/internal'
import { guardedRequest, type GuardedResponse } from '@tutti/net/internal'

import {
  resolveWebScrapeOptions,
  type ScrapeInput,
  type ScrapeLimits,
  type WebScrapeOptions,
} from './options.ts'
import { readPageText, READING_MS } from './page-text.ts'

/** The structured result of `web_scrape`. */
export interface ScrapedPage {
  /** URL of the page, after redirects. */
  url: string
  title?: string
  /** Text as the model gets it. */
  text: string
  /** Whether a part of the page is missing. */
  truncated: boolean
}

const Input = Type.Object({
  url: Type.String({ description: 'Address of the page, such as https://example.com/article' }),
})

const Output = Type.Object({
  url: Type.String(),
  title: Type.Optional(Type.String()),
  text: Type.String(),
  truncated: Type.Boolean(),
})

/** Headers of requests; some servers refuse clients without a user agent. */
const HEADERS = {
  accept: 'text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.8,*/*;q=0.1',
  'user-agent': 'Mozilla/5.0 (compatible; Tutti)',
}

/**
 * Creates the tool `web_scrape`, which fetches a page and returns its readable text.
 *
 * @throws {TypeError} naming invalid settings or rules of `allow`.
 * @throws {RangeError} naming every invalid limit.
 */
export function webScrape(options: WebScrapeOptions = {}): TypedTool<ScrapeInput, ScrapedPage> {
  const { guard, timeoutMs, maxRedirects, settings, ...limits } = resolveWebScrapeOptions(options)
  const { maxBytes } = limits
  return defineTool({
    ...settings,
    timeoutMs: timeoutMs + READING_MS,
    input: Input,
    output: Output,
    async execute({ url }, { signal }) {
      const page = url.trim()
      if (page === '') return ToolResult.failure('URL must not be blank')
      const request = { guard, signal, timeoutMs, maxBytes, maxRedirects, headers: HEADERS }
      try {
        return await toResult(await guardedRequest(page, request), { ...limits, signal })
      } catch (error) {
        return ToolResult.failure(`Failed to fetch URL: ${errorMessage(error)}`)
      }
    },
  })
}

async function toResult(
  response: GuardedResponse,
  { maxBytes, maxChars, links, signal }: ScrapeLimits & { readonly signal: AbortSignal },
): Promise<ToolResult> {
  const { status, url } = response
  if (status < 200 || status > 299) {
    return ToolResult.failure(`Failed to fetch URL: HTTP ${status} from ${url}`)
  }
  const page = await readPageText(response, { signal, ...(links ? { linksFrom: url } : {}) })
  if ('unreadable' in page) {
    return ToolResult.failure(`Failed to fetch URL: cannot read "${page.unreadable}" from ${url}`)
  }
  const title = page.title === undefined ? undefined : shortenTitle(page.title)
  const text = limitText(page.text, maxChars)
  const output = [
    ...(title === undefined || text.startsWith(title) ? [] : [title, '']),
    text === '' ? '[no text found]' : text,
    ...(response.truncated ? [`[only the first ${maxBytes} bytes of the page were read]`] : []),
  ]
  return ToolResult.success(output.join('\n'), {
    url,
    ...(title === undefined ? {} : { title }),
    text,
    truncated: response.truncated || text !== page.text,
  })
}

/** Maximum number of characters of a title; a page may declare any text. */
const TITLE_LENGTH = 300

function shortenTitle(title: string): string {
  if (title.length <= TITLE_LENGTH) return title
  return `${title.slice(0, TITLE_LENGTH).toWellFormed()}…`
}
