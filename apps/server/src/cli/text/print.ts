/** Writes results: lines for people, cut and coloured on a terminal only, or one JSON document. */
import { once } from 'node:events'

import { hasColors, type CommandIo } from '../command-io.ts'
import { paint, type Line } from '../live/line.ts'
import { toTerminalText } from '../live/text-width.ts'

/** Columns of a terminal that does not say how many it has. */
const USUAL_COLUMNS = 80

/** Writes lines to standard output: whole ones where no terminal shows them. */
export function printLines(lines: readonly Line[], io: CommandIo): void {
  const { stdout } = io
  const columns = stdout.isTTY === true ? (stdout.columns ?? USUAL_COLUMNS) : Infinity
  const colors = hasColors(stdout, io)
  const shown = lines.map((line) =>
    line.map(({ text, style }) => ({ text: toTerminalText(text), style })),
  )
  stdout.write(shown.map((line) => `${paint(line, columns, colors).text}\n`).join(''))
}

/** Writes a value to standard output as one JSON document. */
export function printJson(value: unknown, { stdout }: Pick<CommandIo, 'stdout'>): void {
  stdout.write(`${toTerminalJson(value, 2)}\n`)
}

/** Says something to people, beside the result. */
export function say(text: string, { stderr }: Pick<CommandIo, 'stderr'>): void {
  stderr.write(`${toTerminalText(text)}\n`)
}

/** Writes text of others to standard output: as it is, except to a terminal, which would act on it. */
export function printText(text: string, { stdout }: Pick<CommandIo, 'stdout'>): void {
  const shown = stdout.isTTY === true ? toTerminalText(text) : text
  stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`)
}

/**
 * Returns a value as JSON. `JSON.stringify` escapes the control characters below U+0020 only; DEL, the C1 codes and the
 * marks that change the direction of writing are escaped here. The value that a parser reads is the same.
 */
export function toTerminalJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(ACTING, escaped)
}

// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const ACTING = /[\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

function escaped(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Writes, and waits for a reader that is slow, so that events do not pile up here. */
export async function writeOut({ stdout }: Pick<CommandIo, 'stdout'>, text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain')
}
