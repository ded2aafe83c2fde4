/**
 * Extracts the readable text of a page.
 *
 * TOOLS-H1 The text is the article that Readability finds; otherwise the page without navigation, header and footer; if
 * that is empty, the whole page.
 * TOOLS-H2 Hidden elements are omitted.
 * TOOLS-H3 The time per page is limited. Finding the article takes more than linear time (8,000 images in one list:
 *    more than 8 s; 500 nested tables: 14 s; a usual page: 10 to 100 ms), so it is tried only with pages of usual
 *    size, for a limited time. The rest is linear: at most 0.2 s per MB. `reading-threads.ts` runs this in separate
 *    threads.
 */
import { runInNewContext } from 'node:vm'

import { AROUND_THE_PAGE, extractText, surveyHtml, UNREADABLE } from './html-text.ts'

/** URL of this module, for threads that load it. It is imported dynamically, so the bundler puts it into a separate file. */
export const MODULE_URL = import.meta.url

/** Title and text of a page. */
export interface HtmlPage {
  readonly title?: string
  readonly text: string
}

/** Options of reading a page. */
export interface ReadHtmlOptions {
  /** Base URL of links, whose targets are then added after their text. @default targets are omitted */
  readonly linksFrom?: string
  /** Time limit for finding the article, in milliseconds, an integer of at least 1. @default 1000 */
  readonly articleLimitMs?: number
}

/** Twice the time that finding the article takes in a page of `MAX_PIECES`, on one core of a server. */
const ARTICLE_LIMIT_MS = 1000

/** Maximum number of pieces of a page whose article is searched; the longest encyclopedia articles have as many. */
const MAX_PIECES = 40_000

/** Minimum number of characters of an article; below that, Readability returns the element with the most text. */
const MIN_ARTICLE_LENGTH = 500

const OMITTED: ReadonlySet<string> = new Set([...UNREADABLE, ...AROUND_THE_PAGE])

/** Reads a page; its HTML may be invalid in any way. */
export async function readHtml(html: string, options: ReadHtmlOptions = {}): Promise<HtmlPage> {
  const { articleLimitMs = ARTICLE_LIMIT_MS, ...links } = options
  const [{ parseHTML }, { Readability }] = await Promise.all([
    import('linkedom'),
    import('@mozilla/readability'),
  ])
  const survey = surveyHtml(html)
  const article =
    survey.pieces <= MAX_PIECES
      ? runWithin(articleLimitMs, () => {
          const { document: page } = parseHTML(addBody(html))
          return new Readability(page, { charThreshold: MIN_ARTICLE_LENGTH }).parse()
        })
      : undefined
  const isFound = (article?.length ?? 0) >= MIN_ARTICLE_LENGTH
  const text = (part: string, leaveOut: ReadonlySet<string>): string =>
    extractText(part, { leaveOut, ...links })
  const title = article?.title?.trim() || survey.title
  return {
    ...(title === undefined ? {} : { title }),
    text:
      text((isFound && article?.content) || '', UNREADABLE) ||
      text(html, OMITTED) ||
      text(html, UNREADABLE),
  }
}

/** Adds the optional tags that Readability needs. */
function addBody(html: string): string {
  if (/<html[\s>]/i.test(html) && /<body[\s>]/i.test(html)) return html
  const content = html.replace(/<!doctype[^>]*>|<\/?(?:html|head|body)(?=[\s/>])[^>]*>/gi, '')
  return `<html><head></head><body>${content}</body></html>`
}

/**
 * Returns the result of `work`, or undefined when it throws or takes longer than `limitMs`. The work is stopped at any
 * point, also within a regular expression, and its `finally` blocks do not run. It blocks its thread.
 */
function runWithin<T>(limitMs: number, work: () => T): T | undefined {
  try {
    // NOTE: the script calls `work` and returns its result unchanged.
    return runInNewContext('work()', { work }, { timeout: limitMs }) as T
  } catch {
    return undefined
  }
}
