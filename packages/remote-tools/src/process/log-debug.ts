/** Logging for listeners of pipes, which must not throw. */
import type { Logger } from '@tutti/core'
import type { LogFields } from '@tutti/core/internal'

/** Writes a debug line. Ignores errors of the logger. */
export function logDebug(logger: Logger, message: string, fields: LogFields): void {
  try {
    logger.debug(message, fields)
  } catch {
    // A logger that throws must not fail the call.
  }
}
