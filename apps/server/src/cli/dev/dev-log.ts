/** How `tutti dev` logs: for people on a terminal, else as JSON lines, as `tutti start` does. */
import { jsonLogger } from '../../log.ts'
import { hasColors, type CommandIo } from '../command-io.ts'
import { plainLogger } from './plain-log.ts'

import type { Logger } from '@tutti/core'
import type { PlainLogOptions } from './plain-log.ts'

/** The logger for standard error. */
export function devLogger(io: CommandIo, redactor: PlainLogOptions['redactor']): Logger {
  const { stderr } = io
  const write = (line: string): void => {
    stderr.write(line)
  }
  if (stderr.isTTY !== true) return jsonLogger(write, { redactor })
  return plainLogger(write, { colors: hasColors(stderr, io), redactor })
}
