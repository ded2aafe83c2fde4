/** I/O of commands: streams, environment and signals. Tests substitute their own. */
import { VARIABLES } from '../environment/env.ts'

import type { Readable, Writable } from 'node:stream'
import type { ProcessVariables } from '../environment/env-table.ts'

/** I/O of a command. */
export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** Results: text, or JSON with `--json`. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  /** Everything else: progress, advice, errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly variables: ProcessVariables
  /** Working directory of the command. */
  readonly cwd: string
  /** Calls `listener` on SIGINT and SIGTERM. Returns a function that removes it. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): () => void
  /**
   * Lets the process continue after the readers of its output have gone; otherwise it exits silently. Absent where
   * the streams do not belong to a process.
   */
  outliveReaders?(): void
}

/** Returns the I/O of this process. */
export function terminalIo(): CommandIo {
  const readers = { areNeeded: true }
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error
    if (readers.areNeeded) process.exit()
  }
  process.stdout.on('error', onError)
  process.stderr.on('error', onError)
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    variables: VARIABLES,
    cwd: process.cwd(),
    onSignal(listener) {
      process.on('SIGINT', listener)
      process.on('SIGTERM', listener)
      return () => {
        process.off('SIGINT', listener)
        process.off('SIGTERM', listener)
      }
    },
    outliveReaders() {
      readers.areNeeded = false
    },
  }
}

/** Whether text may be colored: on a terminal that is not `dumb`, unless `NO_COLOR` is set. @see https://no-color.org */
export function hasColors(
  { isTTY }: { readonly isTTY?: boolean },
  { variables }: Pick<CommandIo, 'variables'>,
): boolean {
  return isTTY === true && (variables['NO_COLOR'] ?? '') === '' && variables['TERM'] !== 'dumb'
}
