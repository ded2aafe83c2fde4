/** The log of the server: one JSON object a line, on standard error. */
import { errorMessage, TuttiError, type LogFields, type Logger } from '@tutti/core'

import type { Redactor } from '@tutti/control-api'

/** How much a log line matters, from least to most. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** How a log is written. */
export interface LogOptions {
  /** Takes secrets out of every text. @default nothing is taken out */
  readonly redactor?: Pick<Redactor, 'text'>
}

/** A logger that writes lines with `write`. Fields that cannot be written as JSON are told as such. */
export function jsonLogger(
  write: (line: string) => void,
  { redactor = { text: (text) => text } }: LogOptions = {},
): Logger {
  const replace = (_key: string, value: unknown): unknown => {
    if (typeof value === 'string') return redactor.text(value)
    return typeof value === 'bigint' ? String(value) : plain(value)
  }
  const log =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      const head = { time: new Date().toISOString(), level, message }
      write(
        `${lineOf({ ...head, ...fields }, replace) ?? lineOf({ ...head, fields: UNWRITABLE }, replace)}\n`,
      )
    }
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}

/** `logger` without what matters less than `level`. */
export function atLevel(logger: Logger, level: LogLevel): Logger {
  const least = LOG_LEVELS.indexOf(level)
  const log = (of: LogLevel): Logger[LogLevel] =>
    LOG_LEVELS.indexOf(of) < least
      ? () => undefined
      : (message, fields) => {
          logger[of](message, fields)
        }
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}

const UNWRITABLE = 'could not be written as JSON'

type Replace = (key: string, value: unknown) => unknown

/** The line; undefined when the fields go round in a circle, or cannot be read. */
function lineOf(fields: LogFields, replace: Replace): string | undefined {
  try {
    return JSON.stringify(fields, replace)
  } catch {
    return undefined
  }
}

/** Errors have no enumerable properties; this gives them those a reader of a log needs. */
function plain(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const code = TuttiError.isInstance(value) ? { code: value.code } : {}
  return { ...code, message: errorMessage(value), stack: value.stack, cause: value.cause }
}
