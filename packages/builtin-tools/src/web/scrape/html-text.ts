/**
 * The text of HTML as a reader would see it: paragraphs and headings stand alone, items of lists and
 * cells of tables are told apart, what is not meant to be read is left out. Pure, linear in time.
 */
import { scanHtml, VOID_ELEMENTS, type HtmlToken } from './scan-html.ts'

/** How text is taken out of HTML. */
export interface HtmlTextOptions {
  /** Replaces character references. */
  readonly decode: (text: string) => string
  /** Elements to leave out with all that is in them. */
  readonly leaveOut: ReadonlySet<string>
  /** Writes the target of links after their text, relative to this place. */
  readonly linksFrom?: string
}

/** Elements that are never for readers. */
export const UNREADABLE: ReadonlySet<string> = new Set(
  'template svg object canvas audio video select datalist title textarea'.split(' '),
)

/** Elements that are about the site and not about the page. */
export const AROUND_THE_PAGE: ReadonlySet<string> = new Set('nav header footer'.split(' '))

/** Elements that begin and end a line. */
const LINES: ReadonlySet<string> = new Set(
  `address article aside body br caption center dd details dialog div dt fieldset figcaption figure footer
   form header hgroup hr html legend li main menu nav option search section summary tbody tfoot
   thead tr`.split(/\s+/),
)

/** Elements that stand alone, with an empty line around them. */
const PARAGRAPHS: ReadonlySet<string> = new Set(
  'blockquote dl h1 h2 h3 h4 h5 h6 ol p pre table ul'.split(' '),
)

/** Elements whose items stay together. */
const LISTS: ReadonlySet<string> = new Set(['ol', 'ul'])

/** The text that is in HTML. */
export function htmlText(html: string, options: HtmlTextOptions): string {
  const reader = new TextReader(options)
  for (const token of scanHtml(html)) reader.read(token)
  return reader.text
}

/** The text of the first title in HTML. */
export function htmlTitle(html: string, decode: HtmlTextOptions['decode']): string | undefined {
  let isTitle = false
  for (const token of scanHtml(html)) {
    if (isTitle) {
      const title = token.type === 'text' ? decode(token.text).replace(/\s+/g, ' ').trim() : ''
      return title === '' ? undefined : title
    }
    isTitle = token.type === 'open' && token.name === 'title'
  }
  return undefined
}

/** Characters of a tag in which it is looked for that it hides its element. */
const LOOKED_AT = 1000

const HIDES =
  /(?:^|\s)hidden(?=[\s=/]|$)|style\s*=\s*["']?[^"']*\b(?:display\s*:\s*none|visibility\s*:\s*hidden)/i

class TextReader {
  readonly #options: HtmlTextOptions
  readonly #lines = new Lines()
  /** The element that is left out, and how many of its name are open within it. */
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

  read(token: HtmlToken): void {
    if (this.#leftOut !== undefined) this.#passOver(token, this.#leftOut)
    else if (token.type === 'text') this.#write(token.text)
    else if (token.type === 'close') this.#close(token.name)
    else this.#open(token.name, token.attributes)
  }

  #passOver(token: HtmlToken, leftOut: { readonly name: string; depth: number }): void {
    if (token.type === 'text' || token.name !== leftOut.name) return
    leftOut.depth += token.type === 'open' ? 1 : -1
    if (leftOut.depth === 0) this.#leftOut = undefined
  }

  #write(text: string): void {
    const decoded = this.#options.decode(text)
    if (this.#preformatted > 0) this.#lines.addLines(decoded)
    else this.#lines.addWords(decoded)
  }

  #open(name: string, attributes: string): void {
    const { leaveOut, linksFrom } = this.#options
    this.#breakAt(name)
    if (leaveOut.has(name) || HIDES.test(attributes.slice(0, LOOKED_AT))) {
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
      this.#link = this.#targetOf(attributes, linksFrom)
    }
  }

  #close(name: string): void {
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

  /** Where a link leads, when that is another page. */
  #targetOf(attributes: string, linksFrom: string): string | undefined {
    const [, quoted, apostrophised, bare] =
      /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(
        attributes.slice(0, LOOKED_AT),
      ) ?? []
    const target = this.#options.decode(quoted ?? apostrophised ?? bare ?? '').trim()
    const url = target === '' || target.startsWith('#') ? null : URL.parse(target, linksFrom)
    return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined
  }
}

/** Lines of text in the making. */
class Lines {
  readonly #parts: string[] = []
  #newlines = 0
  #space = false
  /** Whether the last part is a mark, which what comes next belongs to. */
  #isMarked = false

  get text(): string {
    return this.#parts.join('').trim()
  }

  /** Ends the line; with 2, leaves an empty one. */
  break(newlines: number): void {
    if (this.#isMarked) return
    this.#newlines = Math.max(this.#newlines, newlines)
    this.#space = false
  }

  /** Adds text in which white space is nothing but a gap. */
  addWords(text: string): void {
    const words = text.replace(/\s+/g, ' ')
    if (words.startsWith(' ')) this.#space = true
    const inner = words.trim()
    if (inner === '') return
    this.#add(inner)
    this.#space = words.endsWith(' ')
  }

  /** Adds text as it is. */
  addLines(text: string): void {
    if (text !== '') this.#add(text)
  }

  /** Adds the bullet of an item, or what parts it from the one before on the same line. */
  addMark(mark: string, place: 'new line' | 'same line' = 'new line'): void {
    if (place === 'same line') {
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
