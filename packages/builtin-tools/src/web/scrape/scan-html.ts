/**
 * The tags and texts of HTML, one after the other. Pure, and linear in time whatever the HTML is: no
 * tree is made, nothing is looked at twice.
 *
 * S1 Comments, doctypes and the contents of scripts, styles and frames are left out.
 * S2 What is not closed, such as a comment or a quoted attribute, goes on to the end, as in browsers.
 */

/** A piece of HTML. Character references in it are as they were written. */
export type HtmlToken =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'open'; readonly name: string; readonly attributes: string }
  | { readonly type: 'close'; readonly name: string }

/** Elements that have no end tag. */
export const VOID_ELEMENTS: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta source track wbr'.split(' '),
)

/** Elements whose content is text, whatever it looks like, → whether that is for readers. */
const TEXT_ONLY: ReadonlyMap<string, boolean> = new Map([
  ['title', true],
  ['textarea', true],
  ['xmp', true],
  ['script', false],
  ['style', false],
  ['iframe', false],
  ['noembed', false],
  ['noframes', false],
])

/** Yields what is in `html`, in order; names are in lower case. */
export function* scanHtml(html: string): Generator<HtmlToken, void, undefined> {
  let textStart = 0
  let from = 0
  while (from < html.length) {
    const start = html.indexOf('<', from)
    if (start === -1) break
    const markup = readMarkup(html, start)
    if (markup === undefined) {
      from = start + 1
      continue
    }
    if (start > textStart) yield { type: 'text', text: html.slice(textStart, start) }
    const { tag, end } = markup
    if (tag !== undefined) yield tag
    textStart = end
    if (tag?.type === 'open' && TEXT_ONLY.has(tag.name)) {
      const contentEnd = endOfText(html, { name: tag.name, from: end })
      if (TEXT_ONLY.get(tag.name) !== true) textStart = contentEnd
      from = contentEnd
    } else {
      from = end
    }
  }
  if (textStart < html.length) yield { type: 'text', text: html.slice(textStart) }
}

interface Markup {
  /** None for comments and the like. */
  readonly tag?: HtmlToken
  /** The index after it. */
  readonly end: number
}

const NAME = /[a-z][^\s/>]*/iy

/** What begins at `start`; undefined when it is a mere `<`. */
function readMarkup(html: string, start: number): Markup | undefined {
  const second = html[start + 1]
  if (second === '!' || second === '?') return { end: endOfComment(html, start) }
  const isClose = second === '/'
  NAME.lastIndex = isClose ? start + 2 : start + 1
  const found = NAME.exec(html)?.[0]
  // As in browsers, `</3` is a comment and `<3` is text.
  if (found === undefined)
    return isClose ? { end: after(html, { text: '>', from: start }) } : undefined
  const attributesStart = NAME.lastIndex
  const end = endOfTag(html, attributesStart)
  // A tag that is not closed is none.
  if (end === undefined) return { end: html.length }
  const name = found.toLowerCase()
  if (isClose) return { tag: { type: 'close', name }, end }
  return { tag: { type: 'open', name, attributes: html.slice(attributesStart, end - 1) }, end }
}

function endOfComment(html: string, start: number): number {
  const isComment = html.startsWith('<!--', start)
  return after(html, isComment ? { text: '-->', from: start + 2 } : { text: '>', from: start })
}

const DELIMITER = /[=>]/g
const QUOTE = /\s*(["'])?/y

/** The index after the `>` that ends a tag: one in a quoted value does not. */
function endOfTag(html: string, from: number): number | undefined {
  for (let at = from; ;) {
    DELIMITER.lastIndex = at
    const delimiter = DELIMITER.exec(html)
    if (delimiter === null) return undefined
    at = DELIMITER.lastIndex
    if (delimiter[0] === '>') return at
    QUOTE.lastIndex = at
    const quote = QUOTE.exec(html)?.[1]
    at = QUOTE.lastIndex
    if (quote !== undefined) at = after(html, { text: quote, from: at })
  }
}

/** The index of the end tag of an element that holds text only, or that of the end. */
function endOfText(
  html: string,
  { name, from }: { readonly name: string; readonly from: number },
): number {
  const endTag = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  endTag.lastIndex = from
  return endTag.exec(html)?.index ?? html.length
}

function after(
  html: string,
  { text, from }: { readonly text: string; readonly from: number },
): number {
  const found = html.indexOf(text, from)
  return found === -1 ? html.length : found + text.length
}
