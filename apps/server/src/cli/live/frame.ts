/** Lines that are redrawn in place, below the existing content of the terminal. */
import type { PaintedLine } from '../../terminal/line.ts'

const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'
/** Start of a synchronized update: terminals that support it show the changes at once; others ignore it. */
const BEGIN_UPDATE = '\x1b[?2026h'
const END_UPDATE = '\x1b[?2026l'
const ERASE_LINE = '\x1b[2K'
const ERASE_BELOW = '\x1b[J'

/**
 * Computes the text that redraws the lines. It replaces log-update, which does not know how many rows its lines take
 * after the window has become narrower, and brings 16 packages and handlers of process signals.
 *
 * Between two calls, the cursor is at the beginning of the line below the last one.
 *
 * SERVER-F1 A line that has not changed is not written again.
 * SERVER-F2 Lines that a narrower window has wrapped count as the rows that they now take.
 */
export class TerminalFrame {
  #lines: readonly PaintedLine[] = []
  #columns = 0

  /** Returns the text that replaces the previous lines; empty when they are the same. */
  draw(lines: readonly PaintedLine[], columns: number): string {
    const isResized = columns !== this.#columns
    const before = this.#lines
    const isSame =
      !isResized &&
      lines.length === before.length &&
      lines.every((line, row) => line.text === before[row]?.text)
    if (isSame) return ''
    const start = this.#toStart(columns) + (isResized ? ERASE_BELOW : '')
    const written = lines.map(({ text }, row) =>
      !isResized && text === before[row]?.text ? '\r\n' : `${ERASE_LINE}${text}\r\n`,
    )
    this.#lines = lines
    this.#columns = columns
    const rest = lines.length < before.length ? ERASE_BELOW : ''
    return `${BEGIN_UPDATE}${HIDE_CURSOR}${start}${written.join('')}${rest}${END_UPDATE}`
  }

  /** Returns the text that removes the lines, so that other text can be written there. */
  clear(columns: number): string {
    const text = `${this.#toStart(columns)}${ERASE_BELOW}${SHOW_CURSOR}`
    this.#lines = []
    return text
  }

  #toStart(columns: number): string {
    const rows = this.#lines.reduce(
      (sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)),
      0,
    )
    return rows === 0 ? '\r' : `\r\x1b[${rows}A`
  }
}
