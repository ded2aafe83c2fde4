/**
 * Progress on a terminal: lines that are drawn over in their place.
 *
 *     event ─▶ state ─▶ (at most 20 times a second) run-lines ─▶ paint ─▶ frame ─▶ terminal
 *
 * It holds no rule of what is shown (`run-lines.ts`) or how it gets there (`frame.ts`).
 *
 * D1 Whatever ends the process, the cursor is shown again.
 * D2 Nothing is drawn while the terminal is somebody else's.
 */
import { emptyRunState, type RunState } from '@tutti/protocol'
import type { WriteStream } from 'node:tty'

import { hasColors, type CommandIo } from '../command-io.ts'
import { formatTerminalDuration } from './figures.ts'
import { TerminalFrame } from './frame.ts'
import { paint, type Line, type Style } from './line.ts'
import { marksFor } from './marks.ts'
import { answerWords, reviewWords } from './plain-lines.ts'
import { runLines } from './run-lines.ts'
import { summaryLines } from './summary-lines.ts'
import { firstLines, toSingleLine, toTerminalText } from './text-width.ts'

import type { ConnectionState } from '@tutti/client'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { Display } from './display.ts'

/** Time between two drawings at least: 20 a second look fluent. */
const DRAW_MS = 50

/** Time after which the clocks of the view have moved. */
const TICK_MS = 1_000

/** Lines that a note has at most. */
const NOTE_LINES = 2

/** What the view says of the keys. */
export interface LiveOptions {
  readonly runId: string
  /** Said in the last line, such as what Ctrl-C does. */
  readonly hint: string
  /** Whether a review can be answered here. */
  readonly canAnswer: boolean
}

/** A live view on `terminal`. */
export class LiveDisplay implements Display {
  readonly #terminal: WriteStream
  readonly #io: CommandIo
  readonly #options: LiveOptions
  readonly #frame = new TerminalFrame()
  readonly #ticks: NodeJS.Timeout
  #state: RunState = emptyRunState()
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

  show(_event: LoggedRunEvent, state: RunState): void {
    this.#state = state
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

  say(text: string): void {
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
    const facts = this.#facts()
    // What stays is not cut: the terminal breaks what is too long for it.
    const lines = outcome === 'over' ? this.#paint(summaryLines(this.#state, facts), Infinity) : []
    const text = lines.map((line) => `${line.text}\n`).join('')
    this.#terminal.write(this.#frame.clear(this.#columns) + text)
    this.#isSuspended = true
  }

  get #columns(): number {
    // Some terminals do not know their size; then it is what it has always been.
    return this.#terminal.columns || 80
  }

  #facts() {
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
    const isColoured = hasColors(this.#terminal, this.#io)
    return lines.map((line) => paint(line, columns, isColoured))
  }

  readonly #soon = (): void => {
    this.#drawing ??= setTimeout(() => this.#draw(), DRAW_MS)
  }

  #draw(): void {
    clearTimeout(this.#drawing)
    this.#drawing = undefined
    if (this.#isSuspended) return
    const lines = this.#paint(runLines(this.#state, this.#facts()))
    this.#terminal.write(this.#frame.draw(lines, this.#columns))
  }

  #notes(): readonly Line[] {
    const { canAnswer, hint } = this.#options
    const open = this.#state.reviews.find(({ status }) => status === 'OPEN')
    const notes: Line[] = []
    if (open !== undefined) {
      const how = canAnswer ? 'r to answer' : answerWords(open.reviewId)
      notes.push(...this.#note(`Review, ${how}: ${reviewWords(open)}`, 'yellow'))
    }
    if (this.#lost !== undefined) {
      const { attempt, delayMs, error } = this.#lost
      const when = `try ${attempt} in ${formatTerminalDuration(delayMs)}`
      notes.push(...this.#note(`Connection lost, ${when}: ${toSingleLine(error.message)}`, 'red'))
    }
    const asked = this.#question
    if (asked === undefined && hint === '') return notes
    if (asked === undefined) return [...notes, [{ text: hint, style: 'dim' }]]
    return [...notes, ...this.#note(asked, 'bold')]
  }

  /** A note goes on in a second line: half of a question is none. */
  #note(text: string, style: Style): readonly Line[] {
    return firstLines(text, this.#columns, NOTE_LINES).map((line) => [{ text: line, style }])
  }

  readonly #restore = (): void => {
    this.#terminal.write('\x1b[?25h')
  }
}
