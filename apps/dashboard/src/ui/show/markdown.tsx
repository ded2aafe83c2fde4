/** Text of a model drawn as Markdown: no HTML of its own, no pictures of elsewhere. */
import { useMemo, type ReactNode } from 'react'
import Library, { type Components } from 'react-markdown'

import { cx } from '../../lib/cx.ts'
import { markdownParts, type Alignment, type MarkdownTable } from './markdown-tables.ts'
import styles from './text.module.css'

/** Elements that a text may have; a picture would be a request to an address that a model chose. */
const NOT_ALLOWED = ['img']

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // What scrolls can be scrolled with the keyboard.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
}

/** A cell has no paragraphs. */
const CELL_COMPONENTS: Components = { ...COMPONENTS, p: ({ children }) => <>{children}</> }

function Markdown({
  children,
  className,
}: {
  readonly children: string
  readonly className?: string | undefined
}) {
  const parts = useMemo(() => markdownParts(children), [children])
  return (
    <div className={cx(styles['markdown'], className)}>
      {parts.map((part, index) =>
        part.kind === 'text' ? (
          <Words key={`${index}`} components={COMPONENTS}>
            {part.text}
          </Words>
        ) : (
          <TableView key={`${index}`} table={part.table} draw={drawCell} />
        ),
      )}
    </div>
  )
}

function Words({
  components,
  children,
}: {
  readonly components: Components
  readonly children: string
}) {
  return (
    <Library disallowedElements={NOT_ALLOWED} unwrapDisallowed components={components}>
      {children}
    </Library>
  )
}

function drawCell(cell: string) {
  return <Words components={CELL_COMPONENTS}>{cell}</Words>
}

// oxlint-disable-next-line import/no-default-export -- what React loads late is a default export
export default Markdown

const ALIGNED: Readonly<Record<Alignment, string | undefined>> = {
  start: undefined,
  center: styles['center'],
  end: styles['end'],
}

/** The table; `draw` makes of a cell what it shows. */
function TableView({
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
