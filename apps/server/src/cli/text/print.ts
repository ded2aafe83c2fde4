/** Writes results: lines for people, cut and coloured on a terminal only, or one JSON document. */
import { paint, type Line } from '../live/line.ts'
import { hasColors, type CommandIo } from '../command-io.ts'

/** Columns of a terminal that does not say how many it has. */
const USUAL_COLUMNS = 80

/** Writes lines to standard output: whole ones where no terminal shows them. */
export function printLines(lines: readonly Line[], io: CommandIo): void {
  const { stdout } = io
  const columns = stdout.isTTY === true ? (stdout.columns ?? USUAL_COLUMNS) : Infinity
  const colors = hasColors(stdout, io)
  stdout.write(lines.map((line) => `${paint(line, columns, colors).text}\n`).join(''))
}

/** Writes a value to standard output as one JSON document. */
export function printJson(value: unknown, { stdout }: Pick<CommandIo, 'stdout'>): void {
  stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
}

/** Says something to people, beside the result. */
export function say(text: string, { stderr }: Pick<CommandIo, 'stderr'>): void {
  stderr.write(`${text}\n`)
}
