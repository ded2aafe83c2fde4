/** Writes results: lines for people, truncated and colored only on a terminal, or one JSON document. */
import { once } from 'node:events'

import { hasColors, type CommandIo } from './command-io.ts'
import { paint, type Line } from './line.ts'
import { toTerminalText } from './text-width.ts'

/** Assumed width of a terminal that does not report it. */
const USUAL_COLUMNS = 80

/** Writes lines to standard output, truncated only on a terminal. */
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

/** Writes a message to standard error. */
export function printMessage(text: string, { stderr }: Pick<CommandIo, 'stderr'>): void {
  stderr.write(`${toTerminalText(text)}\n`)
}

/** Writes untrusted text to standard output: sanitized for a terminal, otherwise unchanged. */
export function printText(text: string, { stdout }: Pick<CommandIo, 'stdout'>): void {
  const shown = stdout.isTTY === true ? toTerminalText(text) : text
  stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`)
}

/**
 * Formats a value as JSON that is safe on a terminal. `JSON.stringify` escapes only the control characters below U+0020;
 * this function also escapes DEL, the C1 codes, line separators and the marks that change the writing direction. Parsers read the
 * same value.
 */
export function toTerminalJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(ACTING, escapeCharacter)
}

// oxlint-disable-next-line no-control-regex -- control characters are intended
const ACTING = /[\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g

function escapeCharacter(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Writes to standard output and waits for a slow reader, so that events do not pile up in memory. */
export async function writeOut({ stdout }: Pick<CommandIo, 'stdout'>, text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain')
}
