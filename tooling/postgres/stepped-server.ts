/**
 * Runs a Postgres server whose clock a test can set, by `libfaketime`: that of `TUTTI_TEST_FAKETIME`, the installed one, or that
 * of the package of Debian or Ubuntu. Linux only.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { findProgram, hasProgram } from '../net/find-program.ts'
import { startCluster } from './cluster.ts'

/** The program, and the library that it preloads; the variable may be the path of the library. */
const FAKETIME = {
  name: 'faketime',
  variable: 'TUTTI_TEST_FAKETIME',
  libraries: /^libfaketime$/,
} as const

/** A server with a clock that can be set; disposing stops and removes it. */
export interface SteppedServer extends AsyncDisposable {
  readonly url: string
  /** Sets the clock of the server to so many milliseconds after that of the machine. */
  setClock(aheadMs: number): void
}

/** Returns whether tests of such a server run. Without the library, they are skipped with a warning; in CI they fail. */
export function hasSteppedServer(): boolean {
  return process.platform === 'linux' && hasProgram(FAKETIME)
}

/** Starts a server. @throws {Error} with its log when it does not start. */
export async function steppedServer(): Promise<SteppedServer> {
  const root = mkdtempSync(join(tmpdir(), 'tutti-stepped-'))
  // The server has another user than this process.
  chmodSync(root, 0o755)
  const file = join(root, 'clock')
  const setClock = (aheadMs: number): void => {
    writeFileSync(file, `${aheadMs < 0 ? '-' : '+'}${Math.abs(aheadMs) / 1_000}`)
  }
  setClock(0)
  const cluster = await startCluster({
    directory: join(root, 'data'),
    removed: root,
    durable: false,
    environment: {
      LD_PRELOAD: findLibrary(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  })
  return {
    url: cluster.url,
    setClock,
    async [Symbol.asyncDispose]() {
      await cluster.remove()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

function findLibrary(): string {
  const { path, libraries } = findProgram(FAKETIME)
  if (path.includes('.so')) return path
  const system = '/usr/lib'
  const directories = [...libraries, ...readdirSync(system).map((entry) => join(system, entry))]
  const found = directories
    .map((directory) => join(directory, 'faketime', 'libfaketime.so.1'))
    .find((library) => existsSync(library))
  if (found === undefined) {
    throw new Error(
      `No libfaketime.so.1 belongs to "${path}"; set ${FAKETIME.variable} to its path`,
    )
  }
  return found
}
