/** The log of a server on standard error: for people on a terminal, else as JSON lines. */
import { jsonLogger } from './log.ts'
import { hasColors, type CommandIo } from '../cli/command-io.ts'
import { plainLogger } from './plain-log.ts'

import type { Logger } from '@tutti/core'
import type { PlainLogOptions } from './plain-log.ts'

/** The logger for standard error. */
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
