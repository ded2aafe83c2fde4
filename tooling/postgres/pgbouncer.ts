/**
 * Runs PgBouncer in transaction mode in front of a Postgres server, for tests: that of `TUTTI_TEST_PGBOUNCER`, or another
 * one.
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { findProgram } from '../net/find-program.ts'
import { freePort } from './free-port.ts'

/** The program, and libraries that its package needs. */
export const PGBOUNCER = {
  name: 'pgbouncer',
  variable: 'TUTTI_TEST_PGBOUNCER',
  libraries: /^lib(?:event|c-ares|cares)/,
} as const

/** A running PgBouncer; disposing stops it. */
export interface PgBouncer extends AsyncDisposable {
  /** The database URL with the address of PgBouncer. */
  readonly url: string
}

/** Fewer than the connections of the clients, so that several share each one. */
const POOL_SIZE = 5

/** A user without rights: PgBouncer refuses to run as root. */
const NOBODY = 65_534

/** Maximum time to start, and interval between connection attempts, in milliseconds. */
const START_LIMIT_MS = 60_000
const LOOK_MS = 10

/** Starts PgBouncer in front of the server of `url`. @throws {Error} with its log when it does not start. */
export async function startPgBouncer(url: string): Promise<PgBouncer> {
  const { path, libraries } = findProgram(PGBOUNCER)
  const { hostname, port, username, password } = new URL(url)
  const directory = mkdtempSync(join(tmpdir(), 'tutti-pgbouncer-run-'))
  const ownPort = await freePort()
  const config = join(directory, 'pgbouncer.ini')
  writeFileSync(
    config,
    `[databases]
* = host=${hostname} port=${port} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${POOL_SIZE}
max_client_conn = 1000
`,
  )
  const asRoot = process.getuid?.() === 0
  if (asRoot) chmodSync(directory, 0o755)
  // When this process dies, the standard input of the shell is closed.
  const shell = spawn('sh', ['-c', '"$@" & read line; kill $!', 'watchdog', path, config], {
    env: { ...process.env, LD_LIBRARY_PATH: libraries.join(delimiter) },
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(asRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  })
  const log: string[] = []
  shell.stderr.on('data', (chunk: Buffer) => log.push(chunk.toString()))
  const stopped = new Promise((resolve) => shell.on('exit', resolve))
  const stop = async (): Promise<void> => {
    shell.stdin.end()
    await stopped
    rmSync(directory, { recursive: true, force: true })
  }
  const limit = Date.now() + START_LIMIT_MS
  while (!(await isListening(ownPort))) {
    if (Date.now() > limit) {
      await stop()
      throw new Error(`PgBouncer ("${path}") does not start:\n${log.join('')}`)
    }
    await sleep(LOOK_MS)
  }
  const pooled = new URL(url)
  pooled.port = String(ownPort)
  return { url: pooled.href, [Symbol.asyncDispose]: stop }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => {
      resolve(false)
    })
  })
}
