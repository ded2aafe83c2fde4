/** Pure: a line of the view, and its text for a terminal. */
import { styleText } from 'node:util'

import { cutToWidth, measureWidth } from './text-width.ts'

/** A piece of a line in one style. */
export interface LineSpan {
  readonly text: string
  readonly style?: Style | undefined
}

/** Style of a piece where colors are shown. A style never carries information alone. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan'

/** A line as a sequence of pieces. Their texts contain no line breaks and no control characters. */
export type Line = readonly LineSpan[]

/** A line as written to the terminal, with its width in columns. */
export interface PaintedLine {
  readonly text: string
  readonly width: number
}

/** Truncates a line to `columns`, and colors it if `hasColors`. */
export function paint(line: Line, columns: number, hasColors: boolean): PaintedLine {
  let width = 0
  let text = ''
  for (const span of line) {
    const cut = cutToWidth(span.text, columns - width)
    width += measureWidth(cut)
    text += paintSpan({ text: cut, style: span.style }, hasColors)
    if (cut !== span.text) break
  }
  return { text, width }
}

/** Returns the full text of a line without styles. */
export function lineText(line: Line): string {
  return line.map(({ text }) => text).join('')
}

function paintSpan({ text, style }: LineSpan, hasColors: boolean): string {
  if (style === undefined || !hasColors || text === '') return text
  // The caller has checked whether the stream supports colors.
  return styleText(style, text, { validateStream: false })
}
