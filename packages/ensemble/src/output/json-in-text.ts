/**
 * Finding the JSON in what a model wrote round it.
 *
 *   the whole text ─▶ its fences, the last one first ─▶ {…} and […] in prose, in order
 *
 * Prose has brackets too, so a bracket begins JSON only if what follows does: a key with its colon, or
 * a first item. From there on it is JSON until its bracket closes, right or wrong. Every character is
 * read a fixed number of times, however the brackets and quotes stand.
 *
 * ENS-O2 JSON is the whole answer; otherwise it is searched for in fences from the last one, then in `{…}`
 *    and `[…]` in prose, empty ones last. The first piece that matches is used.
 * ENS-O3 Malformed or truncated JSON is never used as the answer.
 */
import { errorMessage } from '@tutti/core'

/** Something that parses. */
export interface JsonPiece {
  readonly value: unknown
  /** Characters of its text. */
  readonly length: number
}

/** Something that begins as JSON and is none. */
export interface BrokenJson {
  /** Why it does not parse. */
  readonly reason: string
  readonly length: number
}

/** The JSON in a text. */
export interface JsonInText {
  /** At most 40 pieces, the likeliest answer first. */
  readonly pieces: readonly JsonPiece[]
  /** The longest piece that is broken, if one is. */
  readonly broken?: BrokenJson
}

/** Pieces of each kind at most: every one may have to be checked. */
const MAX_PIECES = 20

/** Finds the JSON in `text`. Never throws, whatever the text. */
export function jsonInText(text: string): JsonInText {
  const whole = parsed(text.trim())
  if ('value' in whole) return { pieces: [whole] }
  const fenced = fences(text).slice(-MAX_PIECES).toReversed().map(parsed).filter(isPiece)
  const found = findLongest(bracketed(text)).map(([start, end]) => parsed(text.slice(start, end)))
  const inProse = found.filter(isPiece)
  const pieces = [
    ...fenced,
    ...inProse.filter((piece) => !isEmpty(piece)),
    ...inProse.filter(isEmpty),
  ]
  const [broken] = found.filter((each) => 'reason' in each).toSorted((a, b) => b.length - a.length)
  return broken === undefined ? { pieces } : { pieces, broken }
}

function parsed(text: string): JsonPiece | BrokenJson {
  const { length } = text
  try {
    return { value: JSON.parse(text), length }
  } catch (error) {
    return { reason: errorMessage(error), length }
  }
}

function isPiece(found: JsonPiece | BrokenJson): found is JsonPiece {
  return 'value' in found
}

/** An empty list or object; in prose that is more often a box to tick than an answer. */
function isEmpty({ value }: JsonPiece): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** The contents of the fences that are closed, in order. @see https://spec.commonmark.org/0.31.2/#fenced-code-blocks */
function fences(text: string): readonly string[] {
  const contents: string[] = []
  let open: { readonly mark: string; readonly from: number } | undefined
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const fence = fenceLine(text.slice(start, end))
    if (open === undefined) {
      if (fence !== undefined) open = { mark: fence.mark, from: end + 1 }
    } else if (fence?.info === '' && fence.mark.startsWith(open.mark)) {
      contents.push(text.slice(open.from, start))
      open = undefined
    }
    start = end + 1
  }
  return contents
}

function fenceLine(line: string): { readonly mark: string; readonly info: string } | undefined {
  const trimmed = line.trim()
  const mark = /^(?:`{3,}|~{3,})/.exec(trimmed)?.[0]
  if (mark === undefined) return undefined
  const info = trimmed.slice(mark.length)
  // With another one in the line, it is code inside a sentence.
  return info.includes('`') ? undefined : { mark, info }
}

/** Where a piece of a text starts, and where it ends. */
type Range = readonly [start: number, end: number]

/** The longest ranges, in order of the text. */
function findLongest(ranges: readonly Range[]): readonly Range[] {
  if (ranges.length <= MAX_PIECES) return ranges
  return ranges
    .toSorted((a, b) => b[1] - b[0] - (a[1] - a[0]))
    .slice(0, MAX_PIECES)
    .toSorted((a, b) => a[0] - b[0])
}

/** The outermost brackets that begin JSON, each to where it closes, or to the end of the text. */
function bracketed(text: string): readonly Range[] {
  const ranges: Range[] = []
  const opening = /[[{]/g
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const { end, isJson } = scanBrackets(text, match.index)
    if (isJson) ranges.push([match.index, end])
    opening.lastIndex = end
  }
  return ranges
}

/** Token kinds that may come next in JSON. */
type Expected = 'firstKey' | 'key' | 'colon' | 'firstItem' | 'value' | 'nextField' | 'nextItem'

/** The kinds of token that may come; a text is `"`, any other scalar `0`. */
const FITTING: Readonly<Record<Expected, string>> = {
  firstKey: '"}',
  key: '"',
  colon: ':',
  firstItem: '[{"0]',
  value: '[{"0',
  nextField: ',}',
  nextItem: ',]',
}

interface Scan {
  /** After the last character that was read. */
  readonly end: number
  /** Whether it is JSON, maybe broken, and not the brackets of prose. */
  readonly isJson: boolean
}

/** Reads from an opening bracket to where it closes, or to where it turns out to be prose. */
function scanBrackets(text: string, start: number): Scan {
  /** The brackets that are open. */
  const open: string[] = []
  let begun = false
  let expected: Expected = 'value'
  let at = start
  for (;;) {
    const { kind, end, from } = tokenAt(text, at)
    if (kind === '' || !FITTING[expected].includes(kind)) {
      return begun
        ? { end: closingEnd(text, from, open.length), isJson: true }
        : { end: from, isJson: false }
    }
    at = end
    if (kind === '{' || kind === '[') {
      open.push(kind)
      expected = kind === '{' ? 'firstKey' : 'firstItem'
      continue
    }
    if (kind === '}' || kind === ']') open.pop()
    const inside = open.at(-1)
    if (inside === undefined) return { end, isJson: true }
    expected = after(kind, expected, inside)
    begun ||= kind === ':' || expected === 'nextItem'
  }
}

/** Returns the state after a token that is not an opening bracket. */
function after(kind: string, expected: Expected, inside: string): Expected {
  if (kind === ':') return 'value'
  if (kind === ',') return inside === '{' ? 'key' : 'value'
  if (expected === 'firstKey' || expected === 'key') {
    if (kind === '"') return 'colon'
  }
  return inside === '{' ? 'nextField' : 'nextItem'
}

interface Token {
  /** Its first character, `0` for a number, boolean or null, empty for what is no token of JSON. */
  readonly kind: string
  readonly from: number
  readonly end: number
}

const SCALAR = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** The token at a place, or after the white space there. */
function tokenAt(text: string, at: number): Token {
  let from = at
  while (isSpace(text.charCodeAt(from))) from += 1
  const first = text.charAt(from)
  if (first === '"') {
    const end = stringEnd(text, from, { ofOneLine: true })
    return { kind: end === undefined ? '' : first, from, end: end ?? from }
  }
  if (first !== '' && '[]{}:,'.includes(first)) return { kind: first, from, end: from + 1 }
  SCALAR.lastIndex = from
  return SCALAR.test(text)
    ? { kind: '0', from, end: SCALAR.lastIndex }
    : { kind: '', from, end: from }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** After the closing quote of a string; nothing when it is not closed, or in a line that is. */
function stringEnd(
  text: string,
  from: number,
  { ofOneLine }: { readonly ofOneLine: boolean },
): number | undefined {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at += 1
    else if (ofOneLine && code < 0x20) return undefined
  }
  return undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Where JSON that is broken ends: its brackets are counted, whatever stands between them. */
function closingEnd(text: string, from: number, depth: number): number {
  let open = depth
  const mark = /["[\]{}]/g
  mark.lastIndex = from
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    if (match[0] === '"') {
      mark.lastIndex = stringEnd(text, match.index, { ofOneLine: false }) ?? text.length
    } else {
      open += match[0] === '[' || match[0] === '{' ? 1 : -1
    }
    if (open === 0) return mark.lastIndex
  }
  return text.length
}
