/** What the program has of the outside. Tests bring their own. */
import { env } from 'node:process'

import type { Readable, Writable } from 'node:stream'

/** The outside of the program. */
export interface CreateIo {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Directory in which it was called. */
  readonly cwd: string
  /** Such as `24.1.0`. */
  readonly nodeVersion: string
}

/** The outside of this process. */
export function processIo(): CreateIo {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    variables: env,
    cwd: process.cwd(),
    nodeVersion: process.versions.node,
  }
}

/** Whether a person is there to be asked. */
export function canAsk({ stdin, stdout }: CreateIo): boolean {
  return stdin.isTTY === true && stdout.isTTY === true
}
