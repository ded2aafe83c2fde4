/**
 * Shows progress on a terminal, in lines that are redrawn in place.
 *
 *     event ─▶ state ─▶ (at most 20 times a second) run-lines ─▶ paint ─▶ frame ─▶ terminal
 *
 * `run-lines.ts` defines the content, and `frame.ts` the drawing.
 *
 * SERVER-LD1 However the process ends, the cursor is shown again.
 * SERVER-LD2 A suspended display does not draw.
 */
import { RunStateFold } from '@tutti/protocol'
import type { WriteStream } from 'node:tty'

import { hasColors, type CommandIo } from '../../terminal/command-io.ts'
import { formatTerminalDuration } from './format-values.ts'
import { TerminalFrame } from './frame.ts'
import { paint, type Line, type Style } from '../../terminal/line.ts'
import { marksFor } from './marks.ts'
import { formatReviewQuestionText } from './plain-lines.ts'
import { formatDecideHint } from './wait-text.ts'
import { runLines } from './run-lines.ts'
import { summaryLines } from './summary-lines.ts'
import { firstLines, toSingleLine, toTerminalText } from '../../terminal/text-width.ts'

import type { ConnectionState } from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { Display } from './display.ts'

/** Minimum time between two drawings, in milliseconds: 20 per second look smooth. */
const DRAW_MS = 50

/** Interval at which the times in the view are updated, in milliseconds. */
const TICK_MS = 1_000

/** Maximum number of lines of a note. */
const NOTE_LINES = 2

export interface LiveOptions {
  readonly runId: string
  /** Text of the last line, such as the effect of Ctrl-C. */
  readonly hint: string
  /** Whether reviews can be decided here. */
  readonly canAnswer: boolean
}

/** A live view on `terminal`. */
export class LiveDisplay implements Display {
  readonly #terminal: WriteStream
  readonly #io: CommandIo
  readonly #options: LiveOptions
  readonly #frame = new TerminalFrame()
  readonly #ticks: NodeJS.Timeout
  #run = new RunStateFold()
  #lost: Extract<ConnectionState, { status: 'reconnecting' }> | undefined
  #question: string | undefined
  #isSuspended = false
  #drawing: NodeJS.Timeout | undefined

  constructor(terminal: WriteStream, io: CommandIo, options: LiveOptions) {
    this.#terminal = terminal
    this.#io = io
    this.#options = options
    this.#ticks = setInterval(this.#soon, TICK_MS)
    terminal.on('resize', this.#soon)
    process.on('exit', this.#restore)
  }

  show(_event: LoggedRunEvent, run: RunStateFold): void {
    this.#run = run
    this.#soon()
  }

  connection(state: ConnectionState): void {
    this.#lost = state.status === 'reconnecting' ? state : undefined
    this.#soon()
  }

  question(text: string | undefined): void {
    this.#question = text
    this.#soon()
  }

  print(text: string): void {
    const lines = toTerminalText(text)
      .split('\n')
      .map((line) => `${line}\n`)
    this.#terminal.write(
      (this.#isSuspended ? '' : this.#frame.clear(this.#columns)) + lines.join(''),
    )
    this.#soon()
  }

  suspend(): void {
    this.#isSuspended = true
    this.#terminal.write(this.#frame.clear(this.#columns))
  }

  resume(): void {
    this.#isSuspended = false
    this.#draw()
  }

  end(outcome: 'over' | 'left'): void {
    clearInterval(this.#ticks)
    clearTimeout(this.#drawing)
    this.#terminal.off('resize', this.#soon)
    process.off('exit', this.#restore)
    const context = this.#context()
    // The summary is not truncated: the terminal wraps long lines.
    const lines =
      outcome === 'over' ? this.#paint(summaryLines(this.#run.state, context), Infinity) : []
    const text = lines.map((line) => `${line.text}\n`).join('')
    this.#terminal.write(this.#frame.clear(this.#columns) + text)
    this.#isSuspended = true
  }

  get #columns(): number {
    // Some terminals do not report their size; 80 columns are the traditional width.
    return this.#terminal.columns || 80
  }

  #context() {
    return {
      runId: this.#options.runId,
      now: Date.now(),
      columns: this.#columns,
      rows: this.#terminal.rows || 24,
      marks: marksFor(this.#io.variables, process.platform),
      notes: this.#notes(),
    }
  }

  #paint(lines: readonly Line[], columns = this.#columns) {
    const isColored = hasColors(this.#terminal, this.#io)
    return lines.map((line) => paint(line, columns, isColored))
  }

  readonly #soon = (): void => {
    this.#drawing ??= setTimeout(() => this.#draw(), DRAW_MS)
  }

  #draw(): void {
    clearTimeout(this.#drawing)
    this.#drawing = undefined
    if (this.#isSuspended) return
    const lines = this.#paint(runLines(this.#run.state, this.#context()))
    this.#terminal.write(this.#frame.draw(lines, this.#columns))
  }

  #notes(): readonly Line[] {
    const { canAnswer, hint } = this.#options
    const open = this.#run.state.reviews.find(
      ({ status, kind }) => status === 'OPEN' && kind !== 'EVENT',
    )
    const notes: Line[] = []
    if (open !== undefined) {
      const how = canAnswer ? 'press r to decide' : formatDecideHint(open)
      notes.push(...this.#note(`Review, ${how}: ${formatReviewQuestionText(open)}`, 'yellow'))
    }
    if (this.#lost !== undefined) {
      const { attempt, delayMs, error } = this.#lost
      const when = `attempt ${attempt} in ${formatTerminalDuration(delayMs)}`
      notes.push(...this.#note(`Connection lost, ${when}: ${toSingleLine(error.message)}`, 'red'))
    }
    const asked = this.#question
    if (asked === undefined && hint === '') return notes
    if (asked === undefined) return [...notes, [{ text: hint, style: 'dim' }]]
    return [...notes, ...this.#note(asked, 'bold')]
  }

  /** Wraps a note into a second line, so that a question stays complete. */
  #note(text: string, style: Style): readonly Line[] {
    return firstLines(text, this.#columns, NOTE_LINES).map((line) => [{ text: line, style }])
  }

  readonly #restore = (): void => {
    this.#terminal.write('\x1b[?25h')
  }
}
