/** What a command has of the outside: its streams, the environment and the signals. Tests bring their own. */
import { VARIABLES } from '../environment/env.ts'

import type { Readable, Writable } from 'node:stream'

/** The outside of a command. */
export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** What was asked for: text for people, JSON with `--json`. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  /** Everything else: progress, advice, errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly variables: NodeJS.ProcessEnv
  /** Directory in which the command was given. */
  readonly cwd: string
  /** Calls `listener` at SIGINT and SIGTERM until the function it gives is called. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): () => void
  /**
   * From now on this process goes on when nobody reads its output any more; else it ends then, quietly. Absent
   * where its streams are none of a process.
   */
  outliveReaders?(): void
}

/** The outside of this process. */
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

/** Whether text may be coloured: on a terminal, unless `NO_COLOR` is set. @see https://no-color.org */
export function hasColors(
  { isTTY }: { readonly isTTY?: boolean },
  { variables }: Pick<CommandIo, 'variables'>,
): boolean {
  return isTTY === true && (variables['NO_COLOR'] ?? '') === '' && variables['TERM'] !== 'dumb'
}
