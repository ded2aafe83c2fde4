/** Pure: text as a terminal shows it: what may be shown at all, how many columns it takes, and how it is cut to them. */
import { stripVTControlCharacters } from 'node:util'

/**
 * Returns the text without anything that would act on a terminal: escape sequences, control strings (OSC, DCS, APC, PM,
 * SOS), C0 and C1 control characters, and the marks that change the direction of writing. Line breaks stay, tabs become
 * blanks. Everything that models, tools and servers say goes through here before a terminal gets it.
 */
export function shownText(text: string): string {
  const lines = text.replaceAll(/\r\n?/g, '\n').replaceAll('\t', '  ')
  return stripVTControlCharacters(lines.replaceAll(CONTROL_STRING, '')).replaceAll(ACTING, '')
}

/** The same in one line: runs of blanks and line breaks are one blank. */
export function oneLine(text: string): string {
  return shownText(text).replaceAll(/\s+/g, ' ').trim()
}

/** Columns that a text takes; it must be one that {@link shownText} gave. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of GRAPHEMES.segment(text)) width += widthOfGrapheme(segment)
  return width
}

/** The text in at most `width` columns; what is cut off is shown by its last one. */
export function cutToWidth(text: string, width: number): string {
  if (width <= 0) return ''
  if (widthOf(text) <= width) return text
  return `${headOf(text, width - 1)}…`
}

/** The text with blanks up to `width` columns. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** The last `count` lines of a text when each has at most `width` columns; long ones go on in the next. */
export function lastLines(text: string, width: number, count: number): readonly string[] {
  // A column holds a few code units at most, so that what is before these can be in no line that is given.
  const tail = text.slice(-(width + 1) * (count + 1) * UNITS_PER_COLUMN)
  const lines = shownText(tail)
    .split('\n')
    .flatMap((line) => wrap(line.trimEnd(), width))
  while (lines.at(-1) === '') lines.pop()
  return lines.slice(-count)
}

/** The first `count` lines of one line of text, broken likewise; what comes after is cut off. */
export function firstLines(text: string, width: number, count: number): readonly string[] {
  const lines = wrap(text, width)
  if (lines.length <= count || width <= 0) return lines
  const [last = '', ...rest] = lines.slice(count - 1)
  return [...lines.slice(0, count - 1), cutToWidth([last, ...rest].join(' '), width)]
}

const UNITS_PER_COLUMN = 4

/** From its introducer to its terminator, both as ESC and a letter or as one C1 code; BEL ends an OSC. */
const CONTROL_STRING =
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  /(?:\u001B[PX\]^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C\n]*(?:\u0007|\u001B\\|\u009C)/g

// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const ACTING = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

const ASCII = /^[\u0020-\u007E]*$/

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Wide characters of East Asia and pictures. @see https://www.unicode.org/reports/tr11/ */
const WIDE =
  /[\u1100-\u115F\u231A\u231B\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18AFF}\u{1B000}-\u{1B2FF}\u{1F000}-\u{1FAFF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}|\uFE0F/u

const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u

function widthOfGrapheme(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0
  return WIDE.test(grapheme) ? 2 : 1
}

function headOf(text: string, width: number): string {
  let head = ''
  let used = 0
  for (const { segment } of GRAPHEMES.segment(text)) {
    used += widthOfGrapheme(segment)
    if (used > width) break
    head += segment
  }
  return head
}

/** Lines of at most `width` columns, broken at a blank where there is one. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let rest = text
  while (widthOf(rest) > width) {
    // A grapheme that is wider than the line takes one of its own.
    const head = headOf(rest, width) || rest.slice(0, 1)
    const blank = head.lastIndexOf(' ')
    const isBroken = blank > 0 && rest[head.length] !== ' '
    lines.push(isBroken ? head.slice(0, blank) : head)
    rest = rest.slice(isBroken ? blank + 1 : head.length).replace(/^ /, '')
  }
  return [...lines, rest]
}
