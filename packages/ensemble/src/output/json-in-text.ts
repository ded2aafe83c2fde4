/**
 * Finds JSON in the text of a model.
 *
 *   the whole text ─▶ its fences, the last one first ─▶ {…} and […] in prose, in order
 *
 * Prose has brackets too, so a bracket begins JSON only if a key with its colon or a first item follows.
 * The text up to its closing bracket is then JSON, valid or malformed. Each character is read a bounded
 * number of times, for any order of brackets and quotes.
 *
 * ENS-O2 JSON is the whole answer; otherwise it is searched for in fences from the last one, then in `{…}`
 *    and `[…]` in prose, empty ones last. The first piece that matches is used.
 * ENS-O3 Malformed or truncated JSON is never used as the answer.
 */
import { errorMessage, parseExactJson } from '@tutti/core/internal'

/** A piece of text that is valid JSON. */
export interface JsonPiece {
  readonly value: unknown
  /** Number of characters. */
  readonly length: number
}

/** A piece of text that begins as JSON but is malformed. */
export interface BrokenJson {
  /** Message of the parser. */
  readonly reason: string
  readonly length: number
}

export interface JsonInText {
  /** At most 40 pieces, the most likely answer first. */
  readonly pieces: readonly JsonPiece[]
  /** Longest malformed piece; absent if there is none. */
  readonly broken?: BrokenJson
}

/** Maximum number of pieces from fences, and of pieces in prose, because each may have to be validated. */
const MAX_PIECES = 20

/** Finds the JSON in `text`. Never throws. */
export function findJsonInText(text: string): JsonInText {
  const whole = parsePiece(text.trim())
  if ('value' in whole) return { pieces: [whole] }
  const fenced = listFences(text).slice(-MAX_PIECES).toReversed().map(parsePiece).filter(isPiece)
  const found = findLongest(findBracketed(text)).map(([start, end]) =>
    parsePiece(text.slice(start, end)),
  )
  const inProse = found.filter(isPiece)
  const pieces = [
    ...fenced,
    ...inProse.filter((piece) => !isEmpty(piece)),
    ...inProse.filter(isEmpty),
  ]
  const [broken] = found.filter((each) => 'reason' in each).toSorted((a, b) => b.length - a.length)
  return broken === undefined ? { pieces } : { pieces, broken }
}

function parsePiece(text: string): JsonPiece | BrokenJson {
  const { length } = text
  try {
    return { value: parseExactJson(text), length }
  } catch (error) {
    return { reason: errorMessage(error), length }
  }
}

function isPiece(found: JsonPiece | BrokenJson): found is JsonPiece {
  return 'value' in found
}

/** Whether a piece is an empty list or object, which in prose is more often a checkbox than an answer. */
function isEmpty({ value }: JsonPiece): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/**
 * Returns the contents of closed fences, in order. @see
 * https://spec.commonmark.org/0.31.2/#fenced-code-blocks
 */
function listFences(text: string): readonly string[] {
  const contents: string[] = []
  let open: { readonly mark: string; readonly from: number } | undefined
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const fence = parseFenceLine(text.slice(start, end))
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

function parseFenceLine(
  line: string,
): { readonly mark: string; readonly info: string } | undefined {
  const trimmed = line.trim()
  const mark = /^(?:`{3,}|~{3,})/.exec(trimmed)?.[0]
  if (mark === undefined) return undefined
  const info = trimmed.slice(mark.length)
  // With another backtick in the line, the mark begins inline code.
  return info.includes('`') ? undefined : { mark, info }
}

/** Start and end of a piece of text. */
type Range = readonly [start: number, end: number]

/** Returns the longest ranges, in the order of the text. */
function findLongest(ranges: readonly Range[]): readonly Range[] {
  if (ranges.length <= MAX_PIECES) return ranges
  return ranges
    .toSorted((a, b) => b[1] - b[0] - (a[1] - a[0]))
    .slice(0, MAX_PIECES)
    .toSorted((a, b) => a[0] - b[0])
}

/** Returns the outermost brackets that begin JSON, each up to its closing bracket or the end of the text. */
function findBracketed(text: string): readonly Range[] {
  const ranges: Range[] = []
  const opening = /[[{]/g
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const { end, isJson } = scanBrackets(text, match.index)
    if (isJson) ranges.push([match.index, end])
    opening.lastIndex = end
  }
  return ranges
}

/** Kinds of tokens that may come next in JSON. */
type Expected = 'firstKey' | 'key' | 'colon' | 'firstItem' | 'value' | 'nextField' | 'nextItem'

/** First characters of the allowed tokens; a string is `"`, any other scalar is `0`. */
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
  /** Position after the last character that was read. */
  readonly end: number
  /** Whether the text is JSON, possibly malformed, and not prose in brackets. */
  readonly isJson: boolean
}

/**
 * Reads from an opening bracket to its closing bracket, or to the first token that shows that it is prose.
 */
function scanBrackets(text: string, start: number): Scan {
  /** Open brackets. */
  const open: string[] = []
  let begun = false
  let expected: Expected = 'value'
  let at = start
  for (;;) {
    const { kind, end, from } = readToken(text, at)
    if (kind === '' || !FITTING[expected].includes(kind)) {
      return begun
        ? { end: findClosingEnd(text, from, open.length), isJson: true }
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
    expected = decideExpected(kind, expected, inside)
    begun ||= kind === ':' || expected === 'nextItem'
  }
}

/** Returns the state after a token that is not an opening bracket. */
function decideExpected(kind: string, expected: Expected, inside: string): Expected {
  if (kind === ':') return 'value'
  if (kind === ',') return inside === '{' ? 'key' : 'value'
  if (expected === 'firstKey' || expected === 'key') {
    if (kind === '"') return 'colon'
  }
  return inside === '{' ? 'nextField' : 'nextItem'
}

interface Token {
  /** First character of the token; `0` for a number, boolean or null, empty if it is not a JSON token. */
  readonly kind: string
  readonly from: number
  readonly end: number
}

const SCALAR = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Returns the token at a position, after white space. */
function readToken(text: string, at: number): Token {
  let from = at
  while (isSpace(text.charCodeAt(from))) from += 1
  const first = text.charAt(from)
  if (first === '"') {
    const end = findStringEnd(text, from, { ofOneLine: true })
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

/**
 * Returns the position after the closing quote of a string; undefined if the string is not closed, or not in
 * its line with `ofOneLine`.
 */
function findStringEnd(
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

/** Returns the end of malformed JSON by counting brackets outside strings. */
function findClosingEnd(text: string, from: number, depth: number): number {
  let open = depth
  const mark = /["[\]{}]/g
  mark.lastIndex = from
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    if (match[0] === '"') {
      mark.lastIndex = findStringEnd(text, match.index, { ofOneLine: false }) ?? text.length
    } else {
      open += match[0] === '[' || match[0] === '{' ? 1 : -1
    }
    if (open === 0) return mark.lastIndex
  }
  return text.length
}
