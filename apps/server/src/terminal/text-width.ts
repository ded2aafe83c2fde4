/** Pure: sanitizes, measures, truncates and wraps text for a terminal. */
import { stripVTControlCharacters } from 'node:util'

import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/**
 * Removes everything from a text that would act on a terminal: escape sequences, control strings (OSC, DCS, APC, PM,
 * SOS), C0 and C1 control characters, and the marks that change the writing direction. Line breaks stay, tabs become
 * spaces. All text from models, tools and servers passes through here before it reaches a terminal.
 */
export function toTerminalText(text: string): string {
  const lines = text.replaceAll(/\r\n?/g, '\n').replaceAll('\t', '  ')
  return stripVTControlCharacters(lines.replaceAll(CONTROL_STRING, '')).replaceAll(ACTING, '')
}

/** Like `toTerminalText`, in one line: each run of whitespace becomes one space. */
export function toSingleLine(text: string): string {
  return toTerminalText(text).replaceAll(/\s+/g, ' ').trim()
}

/** Returns the width of a text in columns. The text must come from {@link toTerminalText}. */
export function measureWidth(text: string): number {
  return stringWidth(text)
}

/** Truncates a text to `width` columns; an ellipsis in the last column marks a truncated text. */
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

/** Pads a text with spaces to `width` columns. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - measureWidth(text)))
}

/** Returns the last `count` lines of a text that is wrapped to `width` columns. */
export function lastLines(text: string, width: number, count: number): readonly string[] {
  // A column takes at most a few code units, so earlier text cannot be part of the result.
  const tail = text.slice(-(width + 1) * (count + 1) * UNITS_PER_COLUMN)
  const lines = toTerminalText(tail)
    .split('\n')
    .flatMap((line) => wrap(line.trimEnd(), width))
  while (lines.at(-1) === '') lines.pop()
  return lines.slice(-count)
}

/** Returns the first `count` lines of one line of text, wrapped likewise; the rest is truncated. */
export function firstLines(text: string, width: number, count: number): readonly string[] {
  const lines = wrap(text, width)
  if (lines.length <= count || width <= 0) return lines
  const [last = '', ...rest] = lines.slice(count - 1)
  return [...lines.slice(0, count - 1), cutToWidth([last, ...rest].join(' '), width)]
}

const UNITS_PER_COLUMN = 4

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Wraps a text to `width` columns, at spaces where possible. */
function wrap(text: string, width: number): readonly string[] {
  return wrapAnsi(text, width, { hard: true, trim: false })
    .split('\n')
    .map((line, index) => (index === 0 ? line : line.trimStart()).trimEnd())
}

/** A control string from its introducer to its terminator, each as ESC and a letter or as a C1 code; BEL ends an OSC. */
const CONTROL_STRING =
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  /(?:\u001B[PX\]^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C\n]*(?:\u0007|\u001B\\|\u009C)/g

// oxlint-disable-next-line no-control-regex -- control characters are intended
const ACTING = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g
