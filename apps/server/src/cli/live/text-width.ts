/** Pure: text as a terminal shows it: what may be shown at all, how many columns it takes, and how it is cut to them. */
import { stripVTControlCharacters } from 'node:util'

import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/**
 * Returns the text without anything that would act on a terminal: escape sequences, control strings (OSC, DCS, APC, PM,
 * SOS), C0 and C1 control characters, and the marks that change the direction of writing. Line breaks stay, tabs become
 * blanks. Everything that models, tools and servers say goes through here before a terminal gets it.
 */
export function toTerminalText(text: string): string {
  const lines = text.replaceAll(/\r\n?/g, '\n').replaceAll('\t', '  ')
  return stripVTControlCharacters(lines.replaceAll(CONTROL_STRING, '')).replaceAll(ACTING, '')
}

/** The same in one line: runs of blanks and line breaks are one blank. */
export function toSingleLine(text: string): string {
  return toTerminalText(text).replaceAll(/\s+/g, ' ').trim()
}

/** Columns that a text takes; it must be one that {@link toTerminalText} gave. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** The text in at most `width` columns; what is cut off is shown by its last one. */
export function cutToWidth(text: string, width: number): string {
  if (width <= 0) return ''
  if (stringWidth(text) <= width) return text
  let head = ''
  for (const { segment } of GRAPHEMES.segment(text)) {
    if (stringWidth(head + segment) >= width) break
    head += segment
  }
  return `${head}…`
}

/** The text with blanks up to `width` columns. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** The last `count` lines of a text when each has at most `width` columns; long ones continue in the next. */
export function lastLines(text: string, width: number, count: number): readonly string[] {
  // A column holds a few code units at most, so that what is before these can be in no line that is returned.
  const tail = text.slice(-(width + 1) * (count + 1) * UNITS_PER_COLUMN)
  const lines = toTerminalText(tail)
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

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Lines of at most `width` columns, broken at a blank where there is one. */
function wrap(text: string, width: number): readonly string[] {
  return wrapAnsi(text, width, { hard: true, trim: false })
    .split('\n')
    .map((line, index) => (index === 0 ? line : line.trimStart()).trimEnd())
}

/** From its introducer to its terminator, both as ESC and a letter or as one C1 code; BEL ends an OSC. */
const CONTROL_STRING =
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  /(?:\u001B[PX\]^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C\n]*(?:\u0007|\u001B\\|\u009C)/g

// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const ACTING = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g
