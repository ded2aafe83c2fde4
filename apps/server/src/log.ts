/** The log of the server: one JSON object a line, on standard error. */
import { TuttiError, type LogFields, type Logger } from '@tutti/core'

type Level = 'debug' | 'info' | 'warn' | 'error'

/** A logger that writes lines with `write`. */
export function jsonLogger(write: (line: string) => void): Logger {
  const log =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
      const time = new Date().toISOString()
      write(`${JSON.stringify({ time, level, message, ...fields }, plain)}\n`)
    }
  return { debug: () => undefined, info: log('info'), warn: log('warn'), error: log('error') }
}

/** Errors have no enumerable properties; this gives them those a reader of a log needs. */
function plain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const code = TuttiError.isInstance(value) ? { code: value.code } : {}
  return { ...code, message: value.message, stack: value.stack, cause: value.cause }
}
