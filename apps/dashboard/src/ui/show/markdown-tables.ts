/**
 * Pure: the tables of a Markdown text, as GitHub writes them; what draws the rest of Markdown knows none.
 * Found are tables at the margin: one inside a list or a quotation is left as it came.
 */

/** How a column is aligned. */
export type Alignment = 'start' | 'center' | 'end'

/** A table. Its cells are Markdown of one line; each row has as many as the head. */
export interface MarkdownTable {
  readonly head: readonly string[]
  readonly alignments: readonly Alignment[]
  readonly rows: readonly (readonly string[])[]
}

/** Text, or a table between texts. */
export type MarkdownPart =
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
