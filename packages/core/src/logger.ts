/** Where libraries write what happened. A server plugs its own logger in; by default nothing is written. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** Facts that go with a log line. */
export type LogFields = Readonly<Record<string, unknown>>

const nothing = (): void => undefined

/** A logger that writes nothing. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
