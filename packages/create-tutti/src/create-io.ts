/** I/O of the program. Tests substitute their own. */
import { env } from 'node:process'

import type { Readable, Writable } from 'node:stream'

/** I/O of the program. */
export interface CreateIo {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Working directory. */
  readonly cwd: string
}

/** Returns the I/O of this process. */
export function processIo(): CreateIo {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    variables: env,
    cwd: process.cwd(),
  }
}

/** Whether the program can ask questions: standard input and output are terminals. */
export function canAsk({ stdin, stdout }: CreateIo): boolean {
  return stdin.isTTY === true && stdout.isTTY === true
}
