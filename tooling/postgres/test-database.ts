/**
 * Provides real Postgres for tests and benchmarks. `testDatabase` returns a new database on a server shared by the
 * whole machine: that of `TUTTI_TEST_DATABASE_URL` if set (its user must be allowed to create databases), else one
 * that starts at its first use (about two seconds) and stops after five seconds without users. `testServer` returns
 * a separate server that a test can stop and kill.
 *
 * A test run that is killed leaves no servers or databases behind: see `keeper.ts`. If Postgres cannot be started,
 * the caller's test fails with the reason.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import type { FailoverSteps } from './failover-cluster.ts'
import type { KeeperReply, KeeperRequest } from './keeper.ts'

/** An empty database that is dropped when disposed. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string
}

/** A separate server with an empty database; disposing stops and removes it. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** Ends all connections and stops the server. */
  stop(): Promise<void>
  /** Starts it again with the same URL and data. */
  start(): Promise<void>
  /** Stops it immediately, as in a crash: committed data is available after `start`. */
  kill(): Promise<void>
}

export interface TestServerOptions {
  /** Whether a commit waits for the disk, as benchmarks need. @default false */
  readonly durable?: boolean
  /** Settings of the server, such as `shared_buffers=1GB`. @default none */
  readonly settings?: readonly string[]
}

/** A separate server that can fail over to a standby; its commits wait for the disk. */
export interface FailoverServer extends TestServer, FailoverSteps {}

/** Maximum time until a keeper replies, in milliseconds. */
const START_LIMIT_MS = 60_000

/** Interval between connection attempts, in milliseconds. */
const LOOK_MS = 25

/** Exit code of a keeper that was not needed; see `keeper.ts`. */
const NOT_NEEDED = 75

const GONE = 'The Postgres server of the tests has stopped'

let shared: Promise<Keeper> | undefined

/** Creates a database on the shared server. @throws {Error} with the reason when Postgres cannot be started. */
export async function testDatabase(): Promise<TestDatabase> {
  const last = shared
  if ((await last)?.hasEnded === true && shared === last) shared = undefined
  shared ??= sharedKeeper()
  const keeper = await shared
  const { url = '', database = '' } = await keeper.ask({ action: 'create' })
  return {
    url,
    async [Symbol.asyncDispose]() {
      // The databases of a server end with it.
      if (!keeper.hasEnded) await keeper.ask({ action: 'drop', database })
    },
  }
}

/** Starts a separate server. @throws {Error} with the reason when it cannot be started. */
export async function testServer({
  durable = false,
  settings = [],
}: TestServerOptions = {}): Promise<TestServer> {
  const { keeper, url } = await openOwnKeeper(durable ? 'durable' : 'private', settings)
  return serverOver(keeper, url)
}

/** Starts a separate server of the oldest supported version. @throws {Error} with the reason when it cannot be started. */
export async function oldestServer(): Promise<TestServer> {
  const { keeper, url } = await openOwnKeeper('oldest', [])
  return serverOver(keeper, url)
}

/** Starts a separate server that can fail over. @throws {Error} with the reason when it cannot be started. */
export async function failoverServer(settings: readonly string[] = []): Promise<FailoverServer> {
  const { keeper, url } = await openOwnKeeper('failover', settings)
  return {
    ...serverOver(keeper, url),
    addStandby: () => keeper.do('addStandby'),
    replicateSynchronously: () => keeper.do('replicateSynchronously'),
    catchUp: () => keeper.do('catchUp'),
    stall: () => keeper.do('stall'),
    failOver: () => keeper.do('failOver'),
  }
}

/** Starts a server with an empty database. */
async function openOwnKeeper(kind: string, settings: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'tutti-postgres-'))
  // The server's user must be able to traverse the directory.
  chmodSync(directory, 0o755)
  const keeper = await openKeeper(directory, [kind, ...settings])
  const { url = '' } = await keeper.ask({ action: 'create' })
  return { keeper, url }
}

function serverOver(keeper: Keeper, url: string): TestServer {
  return {
    url,
    stop: () => keeper.do('stop'),
    start: () => keeper.do('start'),
    kill: () => keeper.do('kill'),
    [Symbol.asyncDispose]: () => keeper.leave(),
  }
}

/** One directory for each user, and one for each `TUTTI_TEST_DATABASE_URL`. */
function sharedKeeper(): Promise<Keeper> {
  const url = process.env['TUTTI_TEST_DATABASE_URL'] ?? ''
  const key = createHash('sha256')
    .update(`${import.meta.url}\n${url}`)
    .digest('hex')
    .slice(0, 8)
  const directory = join(tmpdir(), `tutti-postgres-${process.getuid?.() ?? 0}-${key}`)
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  return openKeeper(directory, url === '' ? ['shared'] : ['shared', url])
}

interface Keeper {
  /** Whether the connection to it is lost, and with it all databases of this process. */
  readonly hasEnded: boolean
  ask(request: Omit<KeeperRequest, 'id'>): Promise<KeeperReply>
  do(action: KeeperRequest['action']): Promise<void>
  /** Resolves when the keeper has released everything. */
  leave(): Promise<void>
}

/** Connects to the keeper of a directory; starts one if necessary. */
async function openKeeper(directory: string, args: readonly string[]): Promise<Keeper> {
  const logFile = join(directory, 'keeper.log')
  const path = join(directory, 'keeper.sock')
  const limit = Date.now() + START_LIMIT_MS
  let child: { code: number | null; ended: boolean } | undefined
  while (Date.now() < limit) {
    const socket = await connected(path)
    const keeper = socket === undefined ? undefined : await hold(keeperOver(socket))
    if (keeper !== undefined) return keeper
    if (child?.ended === true && child.code !== NOT_NEEDED) break
    if (child === undefined || child.ended) child = startKeeper([directory, ...args], logFile)
    await sleep(LOOK_MS)
  }
  throw new Error(
    `Tests need Postgres, and it could not be started. Set TUTTI_TEST_DATABASE_URL to the URL of a ` +
      `server whose user may create databases. Reason:\n${readFileSync(logFile, 'utf8')}`,
  )
}

/** Returns the keeper, or undefined if it ends. */
async function hold(keeper: Keeper): Promise<Keeper | undefined> {
  try {
    await keeper.do('hold')
    return keeper
  } catch {
    return undefined
  }
}

function startKeeper(args: readonly string[], logFile: string) {
  const log = openSync(logFile, 'w')
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('keeper.ts', import.meta.url)), ...args],
    { detached: true, stdio: ['ignore', log, log], cwd: tmpdir() },
  )
  const state: { code: number | null; ended: boolean } = { code: null, ended: false }
  child.on('exit', (code) => {
    state.code = code
    state.ended = true
  })
  child.unref()
  return state
}

function connected(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      resolve(socket)
    })
    socket.once('error', () => {
      resolve(undefined)
    })
  })
}

function keeperOver(socket: Socket): Keeper {
  const waiting = new Map<number, PromiseWithResolvers<KeeperReply>>()
  let lastId = 0
  // The socket keeps the process alive only while a request is pending.
  socket.unref()
  socket.on('error', () => undefined)
  socket.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error(GONE))
  })
  const lines = createInterface({ input: socket })
  // The interface emits the errors of its socket again.
  lines.on('error', () => undefined)
  lines.on('line', (line) => {
    // NOTE: only the keeper writes to this socket.
    const reply = JSON.parse(line) as KeeperReply
    const asked = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (waiting.size === 0) socket.unref()
    if (reply.error === undefined) asked?.resolve(reply)
    else asked?.reject(new Error(reply.error))
  })
  const ask: Keeper['ask'] = (request) => {
    if (socket.destroyed) return Promise.reject(new Error(GONE))
    lastId += 1
    const asked = Promise.withResolvers<KeeperReply>()
    waiting.set(lastId, asked)
    socket.ref()
    socket.write(`${JSON.stringify({ ...request, id: lastId })}\n`)
    return asked.promise
  }
  return {
    get hasEnded() {
      return socket.destroyed
    },
    ask,
    async do(action) {
      await ask({ action })
    },
    leave() {
      return new Promise((resolve) => {
        if (socket.destroyed) resolve()
        socket.ref()
        socket.once('close', () => {
          resolve()
        })
        socket.end()
      })
    },
  }
}
