/**
 * The NATS cluster of the chaos test, and its faults. Each process reaches the servers through its own proxies, so that one
 * process can be cut off while the others are not.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { startNatsCluster, type NatsNode } from '../../nats/nats-cluster.ts'
import { tcpProxy, type TcpProxy } from '../../net/tcp-proxy.ts'

import type { PlannedFault } from './plan.ts'

/** A started cluster. */
export type ChaosNats = Awaited<ReturnType<typeof startChaosNats>>

/** Stream of the processes' offers, with the default prefix. */
const STREAM = 'tutti_runs'

/** Starts three servers; disposing ends them. */
export async function startChaosNats() {
  await using starting = new AsyncDisposableStack()
  const cluster = starting.use(await startNatsCluster())
  const proxies = new Map<string, readonly TcpProxy[]>()
  let offers = 0
  // A stream whose servers are all killed can lose its newest messages.
  const countOffers = async (): Promise<number> => {
    offers = Math.max(offers, await cluster.countMessages(STREAM))
    return offers
  }
  const stack = starting.move()
  return {
    /** Starts the proxies of a process, and returns the variables with which it uses them. */
    async addProcess(name: string): Promise<Readonly<Record<string, string>>> {
      const own: TcpProxy[] = []
      for (const { url } of cluster.nodes) own.push(stack.use(await tcpProxy(url)))
      proxies.set(name, own)
      return {
        NATS_URL: own.map(({ url }) => url).join(','),
        TUTTI_NATS_REPLICAS: String(cluster.nodes.length),
      }
    },
    /** Resolves when the stream of offers exists and has a leader. */
    async ready(): Promise<void> {
      await cluster.findLeader(STREAM)
    },
    /** Returns the number of offers that the stream has accepted. */
    countOffers,
    async killLeader({ lastsMs }: PlannedFault): Promise<void> {
      await countOffers()
      await restart([await cluster.findLeader(STREAM)], lastsMs)
      await cluster.ready()
    },
    async stopAll({ lastsMs }: PlannedFault): Promise<void> {
      await countOffers()
      await restart(cluster.nodes, lastsMs)
      await cluster.ready()
    },
    /** Requires a password that the processes do not have, for a time. */
    async refuseAll({ lastsMs }: PlannedFault): Promise<void> {
      await countOffers()
      await restart(cluster.nodes, 0, ['--user=chaos', '--pass=chaos'])
      await cluster.ready()
      await sleep(lastsMs)
      await restart(cluster.nodes, 0)
      await cluster.ready()
    },
    async freezeOne({ which, lastsMs }: PlannedFault): Promise<void> {
      const node = cluster.nodes[Math.floor(which * cluster.nodes.length)]
      node?.pause()
      await sleep(lastsMs)
      node?.resume()
      await cluster.ready()
    },
    /** Forwards nothing between one process and the servers for a time. */
    async cutOff(name: string, { lastsMs }: PlannedFault): Promise<void> {
      const own = proxies.get(name) ?? []
      for (const proxy of own) proxy.pause()
      await sleep(lastsMs)
      for (const proxy of own) proxy.resume()
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function restart(
  nodes: readonly NatsNode[],
  pauseMs: number,
  more: readonly string[] = [],
): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()))
  await sleep(pauseMs)
  await Promise.all(nodes.map((node) => node.start(more)))
}
