/** Renders text of a model as Markdown, without raw HTML and images. */
import { useMemo, type ReactNode } from 'react'
import Library, { type Components } from 'react-markdown'

import { cx } from '../../lib/cx.ts'
import styles from './text.module.css'

/** Disallowed elements. An image would send a request to an address that a model chose. */
const NOT_ALLOWED = ['img']

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // Scrollable regions need to be reachable by keyboard.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
}

/** Components of table cells, which have no paragraphs. */
const CELL_COMPONENTS: Components = { ...COMPONENTS, p: ({ children }) => <>{children}</> }

interface MarkdownProps {
  readonly children: string
  readonly className?: string | undefined
}

function Markdown({ children, className }: MarkdownProps) {
  const parts = useMemo(() => splitMarkdown(children), [children])
  return (
    <div className={cx(styles['markdown'], className)}>
      {parts.map((part, index) =>
        part.kind === 'text' ? (
          <MarkdownText key={`${index}`} components={COMPONENTS}>
            {part.text}
          </MarkdownText>
        ) : (
          <TableView key={`${index}`} table={part.table} draw={drawCell} />
        ),
      )}
    </div>
  )
}

interface MarkdownTextProps {
  readonly components: Components
  readonly children: string
}

function MarkdownText({ components, children }: MarkdownTextProps) {
  return (
    <Library disallowedElements={NOT_ALLOWED} unwrapDisallowed components={components}>
      {children}
    </Library>
  )
}

function drawCell(cell: string) {
  return <MarkdownText components={CELL_COMPONENTS}>{cell}</MarkdownText>
}

// oxlint-disable-next-line import/no-default-export -- what React loads late is a default export
export default Markdown

const ALIGNED: Readonly<Record<Alignment, string | undefined>> = {
  start: undefined,
  center: styles['center'],
  end: styles['end'],
}

interface TableViewProps {
  readonly table: MarkdownTable
  readonly draw: (cell: string) => ReactNode
}

/** A table; `draw` renders the content of a cell. */
function TableView({ table: { head, alignments, rows }, draw }: TableViewProps) {
  const aligned = (column: number): string => cx(ALIGNED[alignments[column] ?? 'start'])
  return (
    // Scrollable regions need to be reachable by keyboard.
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

/** Alignment of a column. */
type Alignment = 'start' | 'center' | 'end'

/** A table. Its cells are single lines of Markdown; each row has as many cells as the head. */
interface MarkdownTable {
  readonly head: readonly string[]
  readonly alignments: readonly Alignment[]
  readonly rows: readonly (readonly string[])[]
}

/** A text or a table. */
type MarkdownPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'table'; readonly table: MarkdownTable }

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const DELIMITER = /^ {0,3}\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/

/** Splits a text into its parts, in order. */
export function splitMarkdown(text: string): readonly MarkdownPart[] {
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
    fence = findFenceAfter(line, fence)
    const table = fence === undefined ? parseTableAt(lines, at) : undefined
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

/** Returns the fence that closes the current code block; undefined outside of code. */
function findFenceAfter(line: string, open: string | undefined): string | undefined {
  const [, sign] = FENCE.exec(line) ?? []
  if (sign === undefined) return open
  if (open === undefined) return sign
  return sign.startsWith(open) && line.trim() === sign ? undefined : open
}

function parseTableAt(lines: readonly string[], at: number): MarkdownTable | undefined {
  const [first = '', second = ''] = lines.slice(at, at + 2)
  if (!isRow(first) || !DELIMITER.test(second.trimEnd())) return undefined
  const head = splitCells(first)
  const alignments = splitCells(second).map(parseAlignment)
  if (head.length !== alignments.length) return undefined
  const rows: (readonly string[])[] = []
  for (const line of lines.slice(at + 2)) {
    if (!isRow(line)) break
    const cells = splitCells(line)
    rows.push(head.map((_, column) => cells[column] ?? ''))
  }
  return { head, alignments, rows }
}

/**
 * Whether a line can be a table row: it has a bar, and does not start code, a list or a quotation.
 */
function isRow(line: string): boolean {
  return line.includes('|') && !/^(?: {4}|\t| {0,3}(?:>|[-*+] |\d+[.)] ))/.test(line)
}

/** Splits a row into cells. An escaped bar belongs to its cell. */
function splitCells(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function parseAlignment(delimiter: string): Alignment {
  if (!delimiter.endsWith(':')) return 'start'
  return delimiter.startsWith(':') ? 'center' : 'end'
}
