/**
 * The readable text of a page.
 *
 * H1 It is the text of the article, as Readability finds it. Where there is none, it is that of the
 *    whole page without what is around it; where nothing is left then, that of the whole page.
 * H2 What a page hides is not read.
 * H3 No page keeps its thread busy for long; `reading-threads.ts` gives it one of its own. To find the article takes more than linear time, for
 *    some pages without end (8 000 images in one list: more than 8 s, 500 nested tables: 14 s; a usual
 *    one: 10 to 100 ms), so it is tried with pages of a usual size only, for a limited time. The rest
 *    is linear: at most 0.2 s a MB.
 */
import { runInNewContext } from 'node:vm'

import { AROUND_THE_PAGE, htmlText, surveyHtml, UNREADABLE } from './html-text.ts'

/** Address of this module, for threads that load it. It is imported late, so that it is a file of its own. */
export const MODULE_URL = import.meta.url

/** Text of a page. */
export interface HtmlPage {
  readonly title?: string
  readonly text: string
}

/** How a page is read. */
export interface ReadHtmlOptions {
  /** Writes the target of links after their text, relative to this place. */
  readonly linksFrom?: string
  /** Limit for finding the article, in milliseconds, an integer of at least 1. @default 1000 */
  readonly articleLimitMs?: number
}

/** Twice what finding the article takes in a page with the most pieces, on one core of a server. */
const ARTICLE_LIMIT_MS = 1000

/** Elements, texts and references in them; as many as the longest articles of encyclopedias have. */
const MAX_PIECES = 40_000

/** Characters of an article; with fewer, Readability takes whatever has the most text. */
const LEAST_ARTICLE = 500

const NOT_OF_THE_PAGE: ReadonlySet<string> = new Set([...UNREADABLE, ...AROUND_THE_PAGE])

/** Reads a page; what it is made of may be wrong in any way. */
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
          const { document: page } = parseHTML(withBody(html))
          return new Readability(page, { charThreshold: LEAST_ARTICLE }).parse()
        })
      : undefined
  const isFound = (article?.length ?? 0) >= LEAST_ARTICLE
  const text = (part: string, leaveOut: ReadonlySet<string>): string =>
    htmlText(part, { leaveOut, ...links })
  const title = article?.title?.trim() || survey.title
  return {
    ...(title === undefined ? {} : { title }),
    text:
      text((isFound && article?.content) || '', UNREADABLE) ||
      text(html, NOT_OF_THE_PAGE) ||
      text(html, UNREADABLE),
  }
}

/** The page with the tags that HTML allows to leave out, and that Readability needs. */
function withBody(html: string): string {
  if (/<html[\s>]/i.test(html) && /<body[\s>]/i.test(html)) return html
  const content = html.replace(/<!doctype[^>]*>|<\/?(?:html|head|body)(?=[\s/>])[^>]*>/gi, '')
  return `<html><head></head><body>${content}</body></html>`
}

/**
 * Returns what `work` returns, or undefined when it throws or takes longer than `limitMs`. The work is ended
 * wherever it is, also within a regular expression; its `finally` blocks do not run. It blocks its
 * thread while it lasts, so that the limit is also how long others may have to wait.
 */
function runWithin<T>(limitMs: number, work: () => T): T | undefined {
  try {
    // NOTE: it is the work that is called, and what it returns comes back as it is.
    return runInNewContext('work()', { work }, { timeout: limitMs }) as T
  } catch {
    return undefined
  }
}
