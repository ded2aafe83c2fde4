/** Writes results: lines for people, cut and coloured on a terminal only, or one JSON document. */
import { paint, type Line } from '../live/line.ts'
import { shownText } from '../live/text-width.ts'
import { hasColors, type CommandIo } from '../command-io.ts'
import { jsonText } from './json-text.ts'

/** Columns of a terminal that does not say how many it has. */
const USUAL_COLUMNS = 80

/** Writes lines to standard output: whole ones where no terminal shows them. */
export function printLines(lines: readonly Line[], io: CommandIo): void {
  const { stdout } = io
  const columns = stdout.isTTY === true ? (stdout.columns ?? USUAL_COLUMNS) : Infinity
  const colors = hasColors(stdout, io)
  const shown = lines.map((line) =>
    line.map(({ text, style }) => ({ text: shownText(text), style })),
  )
  stdout.write(shown.map((line) => `${paint(line, columns, colors).text}\n`).join(''))
}

/** Writes a value to standard output as one JSON document. */
export function printJson(value: unknown, { stdout }: Pick<CommandIo, 'stdout'>): void {
  stdout.write(`${jsonText(value, 2)}\n`)
}

/** Says something to people, beside the result. */
export function say(text: string, { stderr }: Pick<CommandIo, 'stderr'>): void {
  stderr.write(`${shownText(text)}\n`)
}

/** Writes text of others to standard output: as it is, except to a terminal, which would act on it. */
export function printText(text: string, { stdout }: Pick<CommandIo, 'stdout'>): void {
  const shown = stdout.isTTY === true ? shownText(text) : text
  stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`)
}
