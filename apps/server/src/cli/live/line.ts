/** Pure: a line of the view, and how it becomes text for a terminal. */
import { styleText } from 'node:util'

import { cutToWidth, widthOf } from './text-width.ts'

/** A piece of a line, in one style. */
export interface LineSpan {
  readonly text: string
  readonly style?: Style | undefined
}

/** How a piece looks where colours are shown; nothing is said by its look alone. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan'

/** A line: pieces one after another. Their texts have no line breaks and no control characters. */
export type Line = readonly LineSpan[]

/** A line as it is written, and the columns that it takes. */
export interface PaintedLine {
  readonly text: string
  readonly width: number
}

/** Cuts a line to `columns`, and colours it when that is wanted. */
export function paint(line: Line, columns: number, hasColors: boolean): PaintedLine {
  let width = 0
  let text = ''
  for (const span of line) {
    const cut = cutToWidth(span.text, columns - width)
    width += widthOf(cut)
    text += paintSpan({ text: cut, style: span.style }, hasColors)
    if (cut !== span.text) break
  }
  return { text, width }
}

/** A line without styles, as long as it is. */
export function lineText(line: Line): string {
  return line.map(({ text }) => text).join('')
}

function paintSpan({ text, style }: LineSpan, hasColors: boolean): string {
  if (style === undefined || !hasColors || text === '') return text
  // Whether there are colours was decided before, for the stream that it goes to.
  return styleText(style, text, { validateStream: false })
}
