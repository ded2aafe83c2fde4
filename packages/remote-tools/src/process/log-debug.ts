/** Logging from where nothing may throw: the listeners of pipes. */
import type { LogFields, Logger } from '@tutti/core'

/** Writes a debug line; a logger that throws is no reason to fail. */
export function logDebug(logger: Logger, message: string, fields: LogFields): void {
  try {
    logger.debug(message, fields)
  } catch {
    // There is nowhere left to say it.
  }
}
