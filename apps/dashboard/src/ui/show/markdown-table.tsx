/** A table of a Markdown text, which scrolls sideways where it is wider than its place. */
import { cx } from '../../lib/cx.ts'
import styles from './text.module.css'

import type { ReactNode } from 'react'
import type { Alignment, MarkdownTable } from './markdown-tables.ts'

const ALIGNED: Readonly<Record<Alignment, string | undefined>> = {
  start: undefined,
  center: styles['center'],
  end: styles['end'],
}

/** The table; `draw` makes of a cell what it shows. */
export function TableView({
  table: { head, alignments, rows },
  draw,
}: {
  readonly table: MarkdownTable
  readonly draw: (cell: string) => ReactNode
}) {
  const aligned = (column: number): string => cx(ALIGNED[alignments[column] ?? 'start'])
  return (
    // What scrolls can be scrolled with the keyboard.
    <div role="group" aria-label="Table" tabIndex={0} className={styles['table']}>
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={`${column}`} scope="col" className={aligned(column)}>
                {draw(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={`${row}`}>
              {cells.map((cell, column) => (
                <td key={`${row} ${column}`} className={aligned(column)}>
                  {draw(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
