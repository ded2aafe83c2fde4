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
import { referenceDecoder } from './character-references.ts'
import { AROUND_THE_PAGE, htmlText, htmlTitle, UNREADABLE } from './html-text.ts'
import { runWithin } from './run-within.ts'
import { scanHtml } from './scan-html.ts'

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
  const { document } = parseHTML('<p></p>')
  const decode = referenceDecoder((name) => namedCharacter(document.firstElementChild, name))
  const article = isUsualSize(html)
    ? runWithin(articleLimitMs, () => {
        const { document: page } = parseHTML(withBody(html))
        return new Readability(page, { charThreshold: LEAST_ARTICLE }).parse()
      })
    : undefined
  const isFound = (article?.length ?? 0) >= LEAST_ARTICLE
  const text = (part: string, leaveOut: ReadonlySet<string>): string =>
    htmlText(part, { decode, leaveOut, ...links })
  const title = article?.title?.trim() || htmlTitle(html, decode)
  return {
    ...(title === undefined ? {} : { title }),
    text:
      text((isFound && article?.content) || '', UNREADABLE) ||
      text(html, NOT_OF_THE_PAGE) ||
      text(html, UNREADABLE),
  }
}

function namedCharacter(element: Element | null, name: string): string | undefined {
  if (element === null) return undefined
  element.innerHTML = `&${name};`
  return element.textContent ?? undefined
}

function isUsualSize(html: string): boolean {
  let pieces = 0
  for (const token of scanHtml(html)) {
    if (token.type === 'open') pieces += 1
    // Each character that might begin a tag or a reference makes the parser end a piece of text.
    if (token.type === 'text') pieces += 1 + token.text.replace(/[^<&]+/g, '').length
    if (pieces > MAX_PIECES) return false
  }
  return true
}

/** The page with the tags that HTML allows to leave out, and that Readability needs. */
function withBody(html: string): string {
  if (/<html[\s>]/i.test(html) && /<body[\s>]/i.test(html)) return html
  const content = html.replace(/<!doctype[^>]*>|<\/?(?:html|head|body)(?=[\s/>])[^>]*>/gi, '')
  return `<html><head></head><body>${content}</body></html>`
}
