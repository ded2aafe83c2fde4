/** Text of a model drawn as Markdown: no HTML of its own, no pictures of elsewhere. */
import { useMemo, type ReactNode } from 'react'
import Library, { type Components } from 'react-markdown'

import { cx } from '../../lib/cx.ts'
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

/** How a column is aligned. */
type Alignment = 'start' | 'center' | 'end'

/** A table. Its cells are Markdown of one line; each row has as many as the head. */
interface MarkdownTable {
  readonly head: readonly string[]
  readonly alignments: readonly Alignment[]
  readonly rows: readonly (readonly string[])[]
}

/** Text, or a table between texts. */
type MarkdownPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'table'; readonly table: MarkdownTable }

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const DELIMITER = /^ {0,3}\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/

/** The parts of a text, in order. */
export function markdownParts(text: string): readonly MarkdownPart[] {
  const lines = text.split('\n')
  const parts: MarkdownPart[] = []
  let words: string[] = []
  let fence: string | undefined
  const endWords = (): void => {
    if (words.some((line) => line.trim() !== '')) {
      parts.push({ kind: 'text', text: words.join('\n') })
    }
    words = []
  }
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    fence = fenceAfter(line, fence)
    const table = fence === undefined ? tableAt(lines, at) : undefined
    if (table === undefined) {
      words.push(line)
    } else {
      endWords()
      parts.push({ kind: 'table', table })
      at += table.rows.length + 1
    }
  }
  endWords()
  return parts
}

/** What ends the code that this line is in; undefined outside of code. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const [, sign] = FENCE.exec(line) ?? []
  if (sign === undefined) return open
  if (open === undefined) return sign
  return sign.startsWith(open) && line.trim() === sign ? undefined : open
}

function tableAt(lines: readonly string[], at: number): MarkdownTable | undefined {
  const [first = '', second = ''] = lines.slice(at, at + 2)
  if (!isRow(first) || !DELIMITER.test(second.trimEnd())) return undefined
  const head = cellsOf(first)
  const alignments = cellsOf(second).map(alignmentOf)
  if (head.length !== alignments.length) return undefined
  const rows: (readonly string[])[] = []
  for (const line of lines.slice(at + 2)) {
    if (!isRow(line)) break
    const cells = cellsOf(line)
    rows.push(head.map((_, column) => cells[column] ?? ''))
  }
  return { head, alignments, rows }
}

/** Four spaces begin code, and a sign of a list or a quotation begins that. */
function isRow(line: string): boolean {
  return line.includes('|') && !/^(?: {4}|\t| {0,3}(?:>|[-*+] |\d+[.)] ))/.test(line)
}

/** A bar after a backslash is a letter of its cell. */
function cellsOf(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function alignmentOf(delimiter: string): Alignment {
  if (!delimiter.endsWith(':')) return 'start'
  return delimiter.startsWith(':') ? 'center' : 'end'
}
