/** Port for log output of the libraries. A server provides its own logger; by default no log is written. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** Data of a log line. */
export type LogFields = Readonly<Record<string, unknown>>

const nothing = (): void => undefined

/** Logger that writes nothing. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
