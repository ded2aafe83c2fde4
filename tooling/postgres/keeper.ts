/**
 * The process that runs a Postgres server for tests. `test-database.ts` starts it and communicates with it over
 * a socket, one JSON object per line.
 *
 *   test files ── socket ──▶ keeper ──▶ Postgres
 *
 * KEEPER-K1 One keeper per directory: it holds a lock of the operating system, which is released when it dies.
 * KEEPER-K2 The socket of a test process closes when the process ends for any reason: its databases are dropped. After
 *    a time without connections, the server is stopped and its data removed.
 * KEEPER-K3 If the keeper itself is killed, a shell stops the server (`cluster.ts`).
 * KEEPER-K4 A connection counts from the reply to `hold`: a keeper that ends at the same moment closes it without a reply,
 *    and the test process starts another one.
 *
 * Arguments: the directory; `shared`, `private`, `durable`, `oldest` (version) or `failover`; for `shared` optionally the
 * URL of an existing server to use, for the others settings of the server.
 */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'

import { query, startCluster, type Cluster } from './cluster.ts'
import { startFailoverCluster, type FailoverSteps } from './failover-cluster.ts'

/** A request of a test file. */
export interface KeeperRequest {
  readonly id: number
  readonly action: 'hold' | 'create' | 'drop' | 'stop' | 'start' | 'kill' | keyof FailoverSteps
  /** Name of the database to drop. */
  readonly database?: string
}

export interface KeeperReply {
  readonly id: number
  readonly url?: string
  readonly database?: string
  readonly error?: string
}

/** Exit code of a keeper that was not needed, because another one holds the directory. */
const NOT_NEEDED = 75

/** Time that a shared server waits for its next user, in milliseconds. */
const IDLE_MS = 5_000

const [, , directory = '', kind = 'shared', ...rest] = process.argv
await main()

async function main(): Promise<void> {
  const lock = new DatabaseSync(join(directory, 'keeper.lock'))
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch {
    process.exit(NOT_NEEDED)
  }
  const [url] = rest
  keep(kind === 'shared' && url !== undefined ? otherServer(url) : await ownCluster())
}

/** A server, which may have a standby. */
type KeptCluster = Cluster & Partial<FailoverSteps>

function ownCluster(): Promise<KeptCluster> {
  const settings = rest
  if (kind === 'failover') return startFailoverCluster({ root: directory, durable: true, settings })
  return startCluster({
    directory: join(directory, `data-${process.pid}`),
    ...(kind === 'shared' ? {} : { removed: directory }),
    durable: kind === 'durable',
    version: kind === 'oldest' ? 15 : 18,
    settings,
  })
}

function otherServer(url: string): Cluster {
  const refuse = () => Promise.reject(new Error('This server is private to another connection'))
  return { url, start: refuse, stop: refuse, kill: refuse, remove: () => Promise.resolve() }
}

function keep(cluster: KeptCluster): void {
  const users = new Set<Socket>()
  const path = join(directory, 'keeper.sock')
  let idle: NodeJS.Timeout | undefined
  // A disconnecting user waits until its socket is closed; its server has stopped by then.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    clearTimeout(idle)
    users.add(socket)
    const databases = new Set<string>()
    serve(socket, { cluster, databases })
    socket.on('error', () => socket.destroy())
    socket.on('end', () => {
      if (kind === 'shared') socket.end()
      else void end()
    })
    socket.on('close', () => {
      users.delete(socket)
      for (const database of databases) void drop(cluster, database).catch(() => undefined)
      if (users.size === 0) waitForUsers()
    })
  })
  const waitForUsers = (): void => {
    clearTimeout(idle)
    idle = setTimeout(() => void end(), kind === 'shared' ? IDLE_MS : 0)
  }
  const end = async (): Promise<void> => {
    server.close()
    await cluster.remove().catch(() => undefined)
    if (kind !== 'shared') rmSync(directory, { recursive: true, force: true })
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => void end())
  rmSync(path, { force: true })
  server.listen(path)
  idle = setTimeout(() => void end(), IDLE_MS)
}

interface Held {
  readonly cluster: KeptCluster
  /** Databases of the user of a socket. */
  readonly databases: Set<string>
}

function serve(socket: Socket, held: Held): void {
  const lines = createInterface({ input: socket })
  lines.on('error', () => socket.destroy())
  lines.on('line', (line) => {
    // NOTE: only `test-database.ts` writes to this socket.
    const request = JSON.parse(line) as KeeperRequest
    void answer(request, held).then((reply) => {
      if (socket.writable) socket.write(`${JSON.stringify({ ...reply, id: request.id })}\n`)
    })
  })
}

async function answer(
  { action, database = '' }: KeeperRequest,
  { cluster, databases }: Held,
): Promise<Omit<KeeperReply, 'id'>> {
  try {
    if (action === 'hold') return {}
    if (action === 'create') {
      const name = `tutti_test_${randomBytes(6).toString('hex')}`
      await query(cluster.url, `CREATE DATABASE ${name}`)
      databases.add(name)
      return { url: urlOf(cluster, name), database: name }
    }
    if (action === 'drop') {
      databases.delete(database)
      await drop(cluster, database)
      return {}
    }
    const act = cluster[action]
    if (act === undefined) throw new Error('this server cannot have a standby')
    await act()
    return {}
  } catch (error) {
    return { error: `Cannot ${action} on the Postgres of the tests: ${String(error)}` }
  }
}

async function drop(cluster: Cluster, database: string): Promise<void> {
  await query(cluster.url, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
}

function urlOf(cluster: Cluster, database: string): string {
  const changed = new URL(cluster.url)
  changed.pathname = `/${database}`
  return changed.href
}
