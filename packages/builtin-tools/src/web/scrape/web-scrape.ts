/**
 * The tool that reads a web page.
 *
 * W1 It goes where the guard lets it: the public internet, and what `allow` names.
 * W2 What is left out is said: of the page after `maxBytes`, of its text after `maxChars`.
 * W3 A page that cannot be had is a failed result that says why.
 * W4 A page is read in another thread, within limits of time and memory.
 */
import { defineTool, errorMessage, limitText, ToolResult, Type, type TypedTool } from '@tutti/core'
import { guardedRequest, type GuardedResponse } from '@tutti/net'

import {
  resolveWebScrapeOptions,
  type ScrapeInput,
  type ScrapeLimits,
  type WebScrapeOptions,
} from './options.ts'
import { pageText, READING_MS } from './page-text.ts'

/** What a page came to, for programs. */
export interface ScrapedPage {
  /** Where it is, after redirects. */
  url: string
  title?: string
  /** As the model gets it. */
  text: string
  /** Whether some of the page is missing. */
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

/** Some servers answer nobody who does not say what they are. */
const HEADERS = {
  accept: 'text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.8,*/*;q=0.1',
  'user-agent': 'Mozilla/5.0 (compatible; Tutti)',
}

/**
 * Makes the tool `web_scrape`.
 *
 * @throws {TypeError} for settings or rules of `allow` that do not fit.
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
        return await resultOf(await guardedRequest(page, request), { ...limits, signal })
      } catch (error) {
        return ToolResult.failure(`Failed to fetch URL: ${errorMessage(error)}`)
      }
    },
  })
}

async function resultOf(
  response: GuardedResponse,
  { maxBytes, maxChars, links, signal }: ScrapeLimits & { readonly signal: AbortSignal },
): Promise<ToolResult> {
  const { status, url } = response
  if (status < 200 || status > 299) {
    return ToolResult.failure(`Failed to fetch URL: HTTP ${status} from ${url}`)
  }
  const page = await pageText(response, { signal, ...(links ? { linksFrom: url } : {}) })
  if ('unreadable' in page) {
    return ToolResult.failure(`Failed to fetch URL: cannot read "${page.unreadable}" from ${url}`)
  }
  const title = page.title === undefined ? undefined : shortTitle(page.title)
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

/** Characters of a title; a page may have anything there. */
const TITLE_LENGTH = 300

function shortTitle(title: string): string {
  if (title.length <= TITLE_LENGTH) return title
  return `${title.slice(0, TITLE_LENGTH).toWellFormed()}…`
}
