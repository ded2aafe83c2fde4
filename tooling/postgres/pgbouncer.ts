/**
 * Runs PgBouncer in transaction mode in front of a Postgres server, for tests. Its binary is that of
 * `TUTTI_TEST_PGBOUNCER`, or the installed one; on Debian and Ubuntu the package of the distribution is otherwise
 * downloaded, which needs no rights, and unpacked in the directory for temporary files. The npm registry has none.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { freePort } from './free-port.ts'

/** The command of PgBouncer. */
export interface PgBouncerBinary {
  readonly path: string
  /** Directories of libraries that are not installed. */
  readonly libraries: readonly string[]
}

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

const LIBRARIES = /^lib(?:event|c-ares|cares)/

/** Finds PgBouncer. @throws {Error} that says what is missing and how to install it. */
export function findPgBouncer(): PgBouncerBinary {
  const { TUTTI_TEST_PGBOUNCER: chosen, PATH = '' } = process.env
  const directories = [
    ...PATH.split(delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
    '/opt/homebrew/bin',
  ]
  const installed = directories
    .map((directory) => join(directory, 'pgbouncer'))
    .find((path) => existsSync(path))
  const path = chosen ?? installed
  if (path !== undefined) return { path, libraries: [] }
  try {
    return unpackPackage()
  } catch (error) {
    throw new Error(
      'Tests of the store behind PgBouncer need PgBouncer, which is not installed. Install it (Debian and Ubuntu: ' +
        '"apt-get install pgbouncer"; macOS: "brew install pgbouncer"), or set TUTTI_TEST_PGBOUNCER to the path of its ' +
        `binary. Its package could not be downloaded: ${String(error)}`,
      { cause: error },
    )
  }
}

/** Unpacks the package of the distribution and its libraries, once. */
function unpackPackage(): PgBouncerBinary {
  const root = join(tmpdir(), `tutti-pgbouncer-${process.getuid?.() ?? 0}`)
  if (!existsSync(root)) {
    const parts = mkdtempSync(`${root}-`)
    chmodSync(parts, 0o755)
    const run = (command: string, ...args: string[]): string =>
      execFileSync(command, args, {
        cwd: parts,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    const needed = run('apt-cache', 'depends', 'pgbouncer')
      .split('\n')
      .map((line) => line.replace(/^\s*\|?Depends:\s*/, ''))
    const libraries = needed.filter((name) => LIBRARIES.test(name))
    run('apt-get', 'download', 'pgbouncer', ...libraries)
    run('sh', '-c', 'for file in *.deb; do dpkg -x "$file" . && rm "$file"; done')
    renameSync(parts, root)
  }
  const lib = join(root, 'usr', 'lib')
  return {
    path: join(root, 'usr', 'sbin', 'pgbouncer'),
    libraries: readdirSync(lib).map((name) => join(lib, name)),
  }
}

/** Starts PgBouncer in front of the server of `url`. @throws {Error} with its log when it does not start. */
export async function startPgBouncer(url: string): Promise<PgBouncer> {
  const { path, libraries } = findPgBouncer()
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
