/** The log of a server on standard error: plain lines on a terminal, otherwise JSON lines. */
import { styleText } from 'node:util'

import { TuttiError, type Logger } from '@tutti/core'
import type { LogFields } from '@tutti/core/internal'

import { hasColors, type CommandIo } from '../terminal/command-io.ts'
import { toSingleLine, toTerminalText } from '../terminal/text-width.ts'
import { jsonLogger } from './log.ts'

import type { Redactor } from '@tutti/control-api/internal'
import type { LogLevel } from '../environment/log-level.ts'

/** Creates the logger for standard error. */
export function consoleLogger(
  io: Pick<CommandIo, 'stderr' | 'variables'>,
  redactor: PlainLogOptions['redactor'],
): Logger {
  const { stderr } = io
  const write = (line: string): void => {
    stderr.write(line)
  }
  if (stderr.isTTY !== true) return jsonLogger(write, { redactor })
  return plainLogger(write, { colors: hasColors(stderr, io), redactor })
}

const COLORS = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const

export interface PlainLogOptions {
  readonly colors: boolean
  /** Redacts secrets in every text. */
  readonly redactor: Pick<Redactor, 'text'>
  /** @default the clock of this machine */
  readonly now?: () => Date
}

/** Creates a logger that writes plain lines with `write`. */
export function plainLogger(
  write: (line: string) => void,
  { colors, redactor, now = () => new Date() }: PlainLogOptions,
): Logger {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colors ? styleText(style, text, { validateStream: false }) : text
  const log =
    (level: LogLevel) =>
    (message: string, { runId, error, ...others }: LogFields = {}) => {
      const time = paint('dim', formatTime(now()))
      const head = `${time} ${paint(COLORS[level], level.padEnd(5))} ${toSingleLine(redactor.text(message))}`
      const run = runId === undefined ? '' : ` ${paint('cyan', toSingleLine(formatField(runId)))}`
      const rest = Object.entries(others)
        .filter(([, value]) => value !== undefined)
        .map(
          ([name, value]) =>
            ` ${paint('dim', `${toSingleLine(name)}=`)}${toSingleLine(redactor.text(formatField(value)))}`,
        )
      const reason =
        error === undefined ? '' : `\n${indent(redactor.text(formatError(error, level)))}`
      write(`${head}${run}${rest.join('')}${reason}\n`)
    }
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}

function formatTime(date: Date): string {
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

function formatField(value: unknown): string {
  if (typeof value === 'string') return /\s/.test(value) ? JSON.stringify(value) : value
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return '(not serializable)'
  }
}

/** Formats an error with its causes. An unexpected error has its stack. */
function formatError(error: unknown, level: LogLevel): string {
  if (!(error instanceof Error)) return formatField(error)
  const isExpected = TuttiError.isInstance(error) || level !== 'error'
  const own = isExpected ? error.message : (error.stack ?? error.message)
  return error.cause === undefined ? own : `${own}\ncaused by ${formatError(error.cause, 'warn')}`
}

function indent(text: string): string {
  return toTerminalText(text).replaceAll(/^/gm, '  ')
}
