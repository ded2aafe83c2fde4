/** Runs real NATS servers with JetStream as one cluster on the loopback interface, for tests. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

import { freePort } from '../postgres/free-port.ts'
import { findNatsServer } from './nats-server.ts'

/** A server of a cluster. */
export interface NatsNode {
  readonly name: string
  readonly url: string
  /** Starts it with what it had stored, unless it runs; `more` are further command-line arguments of this start. */
  start(more?: readonly string[]): Promise<void>
  /** Kills it. What it had stored remains. */
  kill(): Promise<void>
  /** Freezes it, like a machine that the others cannot reach. */
  pause(): void
  resume(): void
}

/** A running cluster; disposing kills its servers and deletes what they stored. */
export interface NatsCluster extends AsyncDisposable {
  /** The URLs of all servers, separated by commas. */
  readonly url: string
  readonly nodes: readonly NatsNode[]
  /** Finds the server that leads a stream. @throws {Error} if there is none in time. */
  findLeader(stream: string): Promise<NatsNode>
  /** Returns the number of messages that a stream has stored so far, also those that it has deleted. */
  countMessages(stream: string): Promise<number>
  /** Resolves when the servers have elected a leader. @throws {Error} if they do not in time. */
  ready(): Promise<void>
}

/** Maximum time to start or to elect, and interval of attempts, in milliseconds. */
const LIMIT_MS = 20_000
const TRY_MS = 50

interface Ports {
  readonly client: number
  readonly route: number
  readonly monitor: number
}

/** Starts a cluster of so many servers. */
export async function startNatsCluster(size = 3): Promise<NatsCluster> {
  const binary = findNatsServer()
  const directory = mkdtempSync(join(tmpdir(), 'tutti-nats-run-'))
  const ports: Ports[] = []
  for (let n = 0; n < size; n += 1) {
    ports.push({ client: await freePort(), route: await freePort(), monitor: await freePort() })
  }
  const routes = ports.map(({ route }) => `nats-route://127.0.0.1:${route}`).join(',')
  const nodes = ports.map((own, n) =>
    createNode({
      binary,
      name: `node-${n}`,
      own,
      args: [
        `--name=node-${n}`,
        '--addr=127.0.0.1',
        `--port=${own.client}`,
        `--http_port=${own.monitor}`,
        '--jetstream',
        `--store_dir=${join(directory, `${n}`)}`,
        // Clients use these addresses, which may be those of a proxy.
        ...(size === 1
          ? []
          : [
              '--cluster_name=tutti',
              `--cluster=nats://127.0.0.1:${own.route}`,
              `--routes=${routes}`,
              '--no_advertise',
            ]),
      ],
    }),
  )
  const cluster: NatsCluster = {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    async findLeader(stream) {
      const leader = await repeatUntil(`a leader of ${stream}`, async () => {
        const states = await Promise.all(ports.map((own) => readStream(own, stream)))
        const names = states.map((found) => found?.cluster?.leader)
        return nodes.find(({ name }) => names.includes(name))
      })
      return leader
    },
    async countMessages(stream) {
      const states = await Promise.all(ports.map((own) => readStream(own, stream)))
      return Math.max(0, ...states.map((found) => found?.state?.last_seq ?? 0))
    },
    async ready() {
      if (size === 1) return
      await repeatUntil('a leader of the cluster', async () => {
        const found = await Promise.all(ports.map(readMetaLeader))
        return found.filter((name) => name !== undefined).length > size / 2 ? true : undefined
      })
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node.kill()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
  await Promise.all(nodes.map((node) => node.start()))
  await cluster.ready()
  return cluster
}

interface NodeOptions {
  readonly binary: string
  readonly name: string
  readonly own: Ports
  readonly args: readonly string[]
}

function createNode({ binary, name, own, args }: NodeOptions): NatsNode {
  let running: { readonly pid: number; readonly ended: Promise<unknown> } | undefined
  return {
    name,
    url: `nats://127.0.0.1:${own.client}`,
    async start(more = []) {
      if (running !== undefined) return
      // When this process dies, the standard input of the shell is closed.
      const shell = spawn(
        'sh',
        ['-c', '"$@" & echo $!; read line; kill -9 $!', 'watchdog', binary, ...args, ...more],
        { stdio: ['pipe', 'pipe', 'ignore'] },
      )
      const [line] = (await once(createInterface(shell.stdout), 'line')) as [string]
      running = {
        pid: Number(line),
        ended: once(shell, 'exit'),
      }
      const { ended } = running
      void ended.catch(() => undefined)
      stops.set(running.pid, () => shell.stdin.end())
      await repeatUntil(`server ${name}`, () => readJson(own, 'varz'))
    },
    async kill() {
      if (running === undefined) return
      const { pid, ended } = running
      running = undefined
      stops.get(pid)?.()
      stops.delete(pid)
      await ended
    },
    pause() {
      if (running !== undefined) process.kill(running.pid, 'SIGSTOP')
    },
    resume() {
      if (running !== undefined) process.kill(running.pid, 'SIGCONT')
    },
  }
}

/** The functions that end running servers, by process id. */
const stops = new Map<number, () => void>()

async function readMetaLeader(own: Ports): Promise<string | undefined> {
  const state = await readJson(own, 'jsz')
  const leader = state?.meta_cluster?.leader
  return leader === undefined || leader === '' ? undefined : leader
}

async function readStream(own: Ports, stream: string): Promise<MonitoredStream | undefined> {
  const state = await readJson(own, 'jsz?accounts=true&streams=true')
  const streams = (state?.account_details ?? []).flatMap(({ stream_detail = [] }) => stream_detail)
  return streams.find(({ name }) => name === stream)
}

/** The part of the answers of a server that is used. */
interface Monitored {
  readonly meta_cluster?: { readonly leader?: string }
  readonly account_details?: readonly {
    readonly stream_detail?: readonly MonitoredStream[]
  }[]
}

/** A stream in these answers. */
interface MonitoredStream {
  readonly name: string
  readonly cluster?: { readonly leader?: string }
  readonly state?: { readonly last_seq?: number }
}

async function readJson(own: Ports, path: string): Promise<Monitored | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${own.monitor}/${path}`, {
      signal: AbortSignal.timeout(1_000),
    })
    // NOTE: a cast at the boundary: the server documents these answers.
    return (await response.json()) as Monitored
  } catch {
    return undefined
  }
}

async function repeatUntil<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  const until = Date.now() + LIMIT_MS
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (Date.now() > until) throw new Error(`Found no ${what} in ${LIMIT_MS} ms`)
    await sleep(TRY_MS)
  }
}
