/**
 * Extracts the visible text of HTML: paragraphs and headings are separate, list items and table cells are marked, and
 * invisible elements are omitted. No I/O; takes linear time.
 */
import { scanHtml, type HtmlAttributes, type HtmlReader } from './scan-html.ts'

export interface HtmlTextOptions {
  /** Elements to omit with their content. */
  readonly leaveOut: ReadonlySet<string>
  /** Base URL of links, whose targets are then added after their text. @default targets are omitted */
  readonly linksFrom?: string
}

/** Elements without readable text. */
export const UNREADABLE: ReadonlySet<string> = new Set(
  `audio canvas datalist iframe noembed noframes object script select style svg template textarea title
   video`.split(/\s+/),
)

/** Elements that have no end tag. */
const VOID_ELEMENTS: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta source track wbr'.split(' '),
)

/** Elements that belong to the website, not to the page. */
export const AROUND_THE_PAGE: ReadonlySet<string> = new Set('nav header footer'.split(' '))

/** Elements that start and end a line. */
const LINES: ReadonlySet<string> = new Set(
  `address article aside body br caption center dd details dialog div dt fieldset figcaption figure footer
   form header hgroup hr html legend li main menu nav option search section summary tbody tfoot
   thead tr`.split(/\s+/),
)

/** Elements with an empty line before and after them. */
const PARAGRAPHS: ReadonlySet<string> = new Set(
  'blockquote dl h1 h2 h3 h4 h5 h6 ol p pre table ul'.split(' '),
)

/** Elements whose items stay together. */
const LISTS: ReadonlySet<string> = new Set(['ol', 'ul'])

/** Returns the text of HTML. */
export function extractText(html: string, options: HtmlTextOptions): string {
  const reader = new TextReader(options)
  scanHtml(html, reader)
  return reader.text
}

/** The title and the size of HTML. */
export interface HtmlSurvey {
  /** The text of its first title. */
  readonly title: string | undefined
  /** Number of tags, texts and character references. */
  readonly pieces: number
}

/** Counts the pieces of HTML, and finds its title. */
export function surveyHtml(html: string): HtmlSurvey {
  let pieces = 0
  let title: string | undefined
  let isTitle = false
  scanHtml(html, {
    onOpen(name) {
      pieces += 1
      isTitle = name === 'title' && title === undefined
      if (isTitle) title = ''
    },
    onText(text) {
      pieces += 1
      if (isTitle) title += text
    },
    onClose() {
      isTitle = false
    },
  })
  return { pieces, title: title?.replace(/\s+/g, ' ').trim() || undefined }
}

/** Styles that hide an element. */
const HIDES = /\b(?:display\s*:\s*none|visibility\s*:\s*hidden)/i

class TextReader implements HtmlReader {
  readonly #options: HtmlTextOptions
  readonly #lines = new Lines()
  /** The omitted element, with the number of open elements of its name. */
  #leftOut: { readonly name: string; depth: number } | undefined
  #preformatted = 0
  #lists = 0
  #cells = 0
  #link: string | undefined

  constructor(options: HtmlTextOptions) {
    this.#options = options
  }

  get text(): string {
    return this.#lines.text
  }

  onText(text: string): void {
    if (this.#leftOut !== undefined) return
    if (this.#preformatted > 0) this.#lines.addLines(text)
    else this.#lines.addWords(text)
  }

  onOpen(name: string, attributes: HtmlAttributes): void {
    if (this.#leftOut !== undefined) {
      if (name === this.#leftOut.name) this.#leftOut.depth += 1
      return
    }
    const { leaveOut, linksFrom } = this.#options
    this.#breakAt(name)
    const isHidden = attributes.hidden !== undefined || HIDES.test(attributes.style ?? '')
    if (leaveOut.has(name) || isHidden) {
      if (!VOID_ELEMENTS.has(name)) this.#leftOut = { name, depth: 1 }
      return
    }
    if (name === 'pre') this.#preformatted += 1
    else if (LISTS.has(name)) this.#lists += 1
    else if (name === 'li') this.#lines.addMark('-')
    else if (name === 'tr') this.#cells = 0
    else if (name === 'td' || name === 'th') {
      if (this.#cells > 0) this.#lines.addMark('|', 'same line')
      this.#cells += 1
    } else if (name === 'a' && linksFrom !== undefined) {
      this.#link = resolveTarget(attributes.href ?? '', linksFrom)
    }
  }

  onClose(name: string): void {
    if (this.#leftOut !== undefined) {
      if (name === this.#leftOut.name) this.#leftOut.depth -= 1
      if (this.#leftOut.depth === 0) this.#leftOut = undefined
      return
    }
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted - 1)
    else if (LISTS.has(name)) this.#lists = Math.max(0, this.#lists - 1)
    this.#breakAt(name)
    if (name !== 'a' || this.#link === undefined) return
    this.#lines.addWords(` (${this.#link})`)
    this.#link = undefined
  }

  #breakAt(name: string): void {
    if (PARAGRAPHS.has(name)) this.#lines.break(this.#lists > 0 ? 1 : 2)
    else if (LINES.has(name)) this.#lines.break(1)
  }
}

/** Returns the URL of a link to another page; undefined for other links. */
function resolveTarget(href: string, linksFrom: string): string | undefined {
  const target = href.trim()
  const url = target === '' || target.startsWith('#') ? null : URL.parse(target, linksFrom)
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined
}

/** Builds lines of text. */
class Lines {
  readonly #parts: string[] = []
  #newlines = 0
  #space = false
  /** Whether the last part is a mark, which the next text follows directly. */
  #isMarked = false

  get text(): string {
    return this.#parts.join('').trim()
  }

  /** Ends the line; with 2, adds an empty line. */
  break(newlines: number): void {
    if (this.#isMarked) return
    this.#newlines = Math.max(this.#newlines, newlines)
    this.#space = false
  }

  /** Adds text with collapsed white space. */
  addWords(text: string): void {
    const words = text.replace(/\s+/g, ' ')
    if (words.startsWith(' ')) this.#space = true
    const inner = words.trim()
    if (inner === '') return
    this.#add(inner)
    this.#space = words.endsWith(' ')
  }

  /** Adds text unchanged. */
  addLines(text: string): void {
    if (text !== '') this.#add(text)
  }

  /** Adds the bullet of an item, or a separator on the same line. */
  addMark(mark: string, position: 'new line' | 'same line' = 'new line'): void {
    if (position === 'same line') {
      this.#newlines = 0
      this.#space = true
    }
    this.#add(mark)
    this.#space = true
    this.#isMarked = true
  }

  #add(text: string): void {
    if (this.#parts.length > 0) {
      if (this.#newlines > 0) this.#parts.push('\n'.repeat(this.#newlines))
      else if (this.#space) this.#parts.push(' ')
    }
    this.#parts.push(text)
    this.#newlines = 0
    this.#space = false
    this.#isMarked = false
  }
}
