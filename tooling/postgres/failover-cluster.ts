/**
 * A Postgres primary and a standby behind one address, for tests of failovers.
 *
 *   clients ──▶ address ──▶ primary ── replication ──▶ standby
 *                  └─────────── after failOver ───────────┘
 */
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { tcpProxy, type TcpProxy } from '../net/tcp-proxy.ts'
import { query, startCluster, type Cluster, type ClusterOptions } from './cluster.ts'

export interface FailoverSteps {
  /** Starts the standby as a copy of the primary, which is stopped meanwhile. */
  addStandby(): Promise<void>
  /** Makes commits of the primary wait until the standby has them. */
  replicateSynchronously(): Promise<void>
  /** Resolves when the standby has all changes that the primary has committed so far. */
  catchUp(): Promise<void>
  /** Stalls the replication: the standby gets no later change. */
  stall(): Promise<void>
  /** Kills the primary, promotes the standby and redirects the address to it. */
  failOver(): Promise<void>
}

/** The two servers. `stop`, `start` and `kill` act on the primary, and after the failover on the former standby. */
export interface FailoverCluster extends Cluster, FailoverSteps, AsyncDisposable {
  /** URL for clients: leads to the primary, and after the failover to the former standby. */
  readonly url: string
  /** URL of the first primary itself. */
  readonly primaryUrl: string
}

export interface FailoverClusterOptions extends Partial<
  Pick<ClusterOptions, 'durable' | 'settings'>
> {
  /** Directory of the data, which is removed with the servers. @default a new one */
  readonly root?: string
}

/** The standby, and the proxy between it and the primary. */
interface Standby {
  readonly cluster: Cluster
  readonly replication: TcpProxy
}

const POLL_MS = 20

/** Starts the primary. @throws {Error} with its log when it cannot be started. */
export async function startFailoverCluster({
  durable = false,
  settings = [],
  root = mkdtempSync(join(tmpdir(), 'tutti-failover-')),
}: FailoverClusterOptions = {}): Promise<FailoverCluster> {
  // The user of the servers must be able to traverse the directory.
  chmodSync(root, 0o755)
  const directory = join(root, 'primary')
  const options = { removed: root, durable, settings }
  const primary = await startCluster({ ...options, directory })
  const address = await tcpProxy(primary.url)
  let added: Standby | undefined
  let present = primary
  const standby = (): Standby => {
    if (added === undefined) throw new Error('There is no standby: call addStandby first')
    return added
  }
  const remove = async (): Promise<void> => {
    await address[Symbol.asyncDispose]()
    await added?.replication[Symbol.asyncDispose]()
    await added?.cluster.remove()
    if (present === primary) await primary.kill()
    await rm(root, { recursive: true, force: true })
  }
  return {
    url: address.url,
    primaryUrl: primary.url,
    stop: () => present.stop(),
    start: () => present.start(),
    kill: () => present.kill(),
    async addStandby() {
      await primary.stop()
      const replication = await tcpProxy(primary.url)
      const copy = { copiedFrom: directory, primaryUrl: replication.url }
      const cluster = await startCluster({
        ...options,
        directory: join(root, 'standby'),
        standby: copy,
      })
      added = { cluster, replication }
      await primary.start()
    },
    async replicateSynchronously() {
      await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
      await query(primary.url, 'SELECT pg_reload_conf()')
      const isSynchronous = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`
      while ((await query(primary.url, isSynchronous)).length === 0) await sleep(POLL_MS)
    },
    async catchUp() {
      const { url } = standby().cluster
      const [row] = await query(primary.url, 'SELECT pg_current_wal_lsn() AS lsn')
      const reached = `SELECT pg_last_wal_replay_lsn() >= '${String(row?.['lsn'])}' AS reached`
      while ((await query(url, reached))[0]?.['reached'] !== true) await sleep(POLL_MS)
    },
    stall() {
      standby().replication.pause()
      return Promise.resolve()
    },
    async failOver() {
      const { cluster, replication } = standby()
      address.cut({ stay: true })
      present = cluster
      await primary.kill()
      replication.cut({ stay: true })
      await query(cluster.url, 'SELECT pg_promote()')
      address.redirect(cluster.url)
      address.restore()
    },
    remove,
    [Symbol.asyncDispose]: remove,
  }
}
