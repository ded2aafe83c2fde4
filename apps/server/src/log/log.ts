/** The log of the server as JSON lines. */
import { TuttiError, type Logger } from '@tutti/core'
import { errorMessage, type LogFields } from '@tutti/core/internal'
import { escapeLineBreaks } from '@tutti/protocol/internal'

import { LOG_LEVELS, type LogLevel } from '../environment/log-level.ts'

import type { Redactor } from '@tutti/control-api/internal'

export interface LogOptions {
  /** Redacts secrets in every text. @default no redaction */
  readonly redactor?: Pick<Redactor, 'text'>
}

/** Creates a logger that writes JSON lines with `write`. A note replaces fields that cannot be serialized. */
export function jsonLogger(
  write: (line: string) => void,
  { redactor = { text: (text) => text } }: LogOptions = {},
): Logger {
  const replace = (_key: string, value: unknown): unknown => {
    if (typeof value === 'string') return redactor.text(value)
    return typeof value === 'bigint' ? String(value) : toPlainValue(value)
  }
  const log =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      const head = { time: new Date().toISOString(), level, message }
      write(
        `${serializeLine({ ...head, ...fields }, replace) ?? serializeLine({ ...head, fields: UNWRITABLE }, replace)}\n`,
      )
    }
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}

/** Returns a logger that drops the lines below `level`. */
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

const UNWRITABLE = 'not serializable as JSON'

type Replace = (key: string, value: unknown) => unknown

/** Serializes a line; undefined when the fields are circular or throw an error. */
function serializeLine(fields: LogFields, replace: Replace): string | undefined {
  try {
    return escapeLineBreaks(JSON.stringify(fields, replace))
  } catch {
    return undefined
  }
}

/** Converts errors, whose properties are not enumerable, to plain objects. */
function toPlainValue(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const code = TuttiError.isInstance(value) ? { code: value.code } : {}
  return { ...code, message: errorMessage(value), stack: value.stack, cause: value.cause }
}
