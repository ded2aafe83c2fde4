/**
 * Reports the tags and texts of HTML in order, without building a tree, so that the time is linear for any HTML.
 * `Parser` of htmlparser2 and the DOM on top of it have a stack of open elements, which takes quadratic time for deep
 * nesting.
 */
import { Tokenizer } from 'htmlparser2'

/** Callbacks of a scan. Names are in lower case; character references are decoded. */
export interface HtmlReader {
  onOpen(name: string, attributes: HtmlAttributes): void
  onClose(name: string): void
  /** Called with a piece of text, which may be a part of a word. */
  onText(text: string): void
}

/** The attributes that readers use. */
export type HtmlAttributes = Readonly<Partial<Record<'hidden' | 'href' | 'style', string>>>

/** Maximum number of characters of an attribute value. */
const MAX_VALUE = 1_000

const MAX_NAME_LENGTH = 'hidden'.length

/** Scans `html`. Comments, doctypes and unclosed tags are omitted. */
export function scanHtml(html: string, reader: HtmlReader): void {
  let name = ''
  let attribute: keyof HtmlAttributes | undefined
  let attributes: Partial<Record<keyof HtmlAttributes, string>> = {}
  const add = (text: string): void => {
    const value = attribute === undefined ? undefined : (attributes[attribute] ?? '')
    if (attribute !== undefined && value !== undefined && value.length < MAX_VALUE) {
      attributes[attribute] = value + text
    }
  }
  const onopentagend = (): void => {
    reader.onOpen(name, attributes)
  }
  const ignore = (): void => undefined
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase()
        attributes = {}
      },
      onattribname(start, end) {
        attribute = readKnownAttribute(html, start, end)
        if (attribute !== undefined && attribute in attributes) attribute = undefined
        add('')
      },
      onattribdata(start, end) {
        add(html.slice(start, Math.min(end, start + MAX_VALUE)))
      },
      onattribentity(codePoint) {
        add(String.fromCodePoint(codePoint))
      },
      onattribend: ignore,
      onopentagend,
      onselfclosingtag: onopentagend,
      onclosetag(start, end) {
        reader.onClose(html.slice(start, end).toLowerCase())
      },
      ontext(start, end) {
        reader.onText(html.slice(start, end))
      },
      ontextentity(codePoint) {
        reader.onText(String.fromCodePoint(codePoint))
      },
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onend: ignore,
      onprocessinginstruction: ignore,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
}

function readKnownAttribute(
  html: string,
  start: number,
  end: number,
): keyof HtmlAttributes | undefined {
  if (end - start > MAX_NAME_LENGTH) return undefined
  const name = html.slice(start, end).toLowerCase()
  return name === 'hidden' || name === 'href' || name === 'style' ? name : undefined
}
