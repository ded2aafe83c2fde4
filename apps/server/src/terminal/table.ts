/** Pure: formats rows as aligned columns, separated by two spaces. */
import { toSingleLine, padToWidth, measureWidth } from './text-width.ts'

import type { Line, LineSpan } from './line.ts'

/** A column. Numbers are aligned right, so that they can be compared. */
export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
}

const GAP = '  '

/** Returns a line of titles and a line for each row. Every row needs a cell for each column; cells become one line. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly LineSpan[])[],
): readonly Line[] {
  const titles = columns.map(({ title }): LineSpan => ({ text: title, style: 'dim' }))
  const all = [titles, ...rows.map((row) => row.map(toSingleLineSpan))]
  const widths = columns.map((_, index) =>
    Math.max(...all.map((row) => measureWidth(row[index]?.text ?? ''))),
  )
  return all.map((row) =>
    row.flatMap((cell, index): LineSpan[] => {
      const padded = pad(cell, { ...columns[index], width: widths[index] ?? 0 })
      const isLast = index === row.length - 1
      return isLast ? [{ ...padded, text: padded.text.trimEnd() }] : [padded, { text: GAP }]
    }),
  )
}

function toSingleLineSpan({ text, style }: LineSpan): LineSpan {
  return { text: toSingleLine(text), style }
}

function pad(
  { text, style }: LineSpan,
  {
    align = 'left',
    width,
  }: { readonly align?: Column['align'] | undefined; readonly width: number },
): LineSpan {
  if (align === 'left') return { text: padToWidth(text, width), style }
  return { text: ' '.repeat(Math.max(0, width - measureWidth(text))) + text, style }
}
