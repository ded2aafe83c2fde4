/** Runs the hostile mix against a server with a small heap, and reports what another caller notices. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { FuzzServer } from '../../fuzz/lib/fuzz-server.ts'
import { HostileConnection } from './connection.ts'
import { buildRequest, querySocket, type Kind, type KnownRuns } from './mix.ts'

const CONFIG = fileURLToPath(new URL('../fixtures/hostile.config.mjs', import.meta.url))
const WATCH = fileURLToPath(new URL('watch-caller.mjs', import.meta.url))

/** Keys of the config. */
const HOSTILE = 'key-hostile-0123456789'
const POLITE = 'key-polite-0123456789'

/** Number of runs with long outputs that the mix reads. */
const LOUD_RUNS = 10

/** Time for the last answers after the load has ended, in milliseconds. */
const LAST_ANSWERS_MS = 30_000

export interface HostileOptions {
  readonly seconds: number
  /** Maximum size of V8's old generation, in MiB. */
  readonly heapMb: number
  readonly connections: number
  /** Kinds of requests, in the order in which each connection sends them. */
  readonly kinds: readonly Kind[]
}

/** Request times of the other caller, in milliseconds. */
export interface Times {
  readonly health: readonly number[]
  readonly read: readonly number[]
  readonly submit: readonly number[]
  /** From a submission to its result. */
  readonly result: readonly number[]
}

/** Results of the mix. */
export interface HostileReport {
  readonly times: Times
  /** Number of answers to the hostile caller by status; `broken` for connections that broke. */
  readonly statuses: Readonly<Record<string, number>>
  /** Longest gaps in which the main thread of the server computed, in milliseconds. */
  readonly stallsMs: readonly number[]
  /** Largest measured heap in use, in bytes. */
  readonly heapBytes: number
  /** Promises that were broken, except for slow answers. */
  readonly violations: readonly string[]
}

/** Finding of the process that measures. */
type Finding =
  | { readonly kind: 'heap'; readonly bytes: number }
  | { readonly kind: keyof Times; readonly ms: number; readonly problem?: string }

/** Runs the mix. */
export async function runHostile(options: HostileOptions): Promise<HostileReport> {
  const { seconds, heapMb, connections, kinds } = options
  await using server = await FuzzServer.start({
    config: CONFIG,
    node: [`--max-old-space-size=${heapMb}`],
  })
  const load = new Load(server.url, { runs: await submitLoudRuns(server.url), kinds })
  await load.sendOnce()
  const watch = watchCaller(server.url)
  const until = performance.now() + seconds * 1_000
  server.stalls.length = 0
  const isOver = (): boolean => performance.now() > until || server.hasEnded
  const attackers = Array.from({ length: connections }, (_, index) => load.attack(index, isOver))
  await Promise.race([Promise.all(attackers), after(seconds * 1_000 + LAST_ANSWERS_MS)])
  const { times, heapBytes, problems } = watch.stop()
  const violations = [...load.violations, ...problems]
  if (server.hasEnded) violations.push(`The server has ended: ${server.output.slice(-500)}`)
  else violations.push(...(await findLateProblems(server.url)))
  const stallsMs = server.stalls
    .map(({ stalledMs }) => Math.round(stalledMs))
    .toSorted((a, b) => b - a)
    .slice(0, 5)
  return { times, heapBytes, stallsMs, statuses: load.statuses, violations }
}

/** Requests of the hostile caller, and their answers. */
class Load {
  readonly #url: string
  readonly #runs: KnownRuns
  readonly #kinds: readonly Kind[]
  readonly statuses: Record<string, number> = {}
  readonly violations: string[] = []

  constructor(
    url: string,
    { runs, kinds }: Pick<HostileOptions, 'kinds'> & { readonly runs: KnownRuns },
  ) {
    this.#url = url
    this.#runs = runs
    this.#kinds = kinds
  }

  /** Sends one request of each kind, because the first use of a protocol loads its code. */
  async sendOnce(): Promise<void> {
    using connection = new HostileConnection(this.#url, HOSTILE)
    for (const [turn] of this.#kinds.entries()) await this.#send(connection, turn)
  }

  /** Sends requests over one connection until the load is over. */
  async attack(index: number, isOver: () => boolean): Promise<void> {
    using connection = new HostileConnection(this.#url, HOSTILE)
    for (let turn = index; !isOver(); turn += 1) await this.#send(connection, turn)
  }

  async #send(connection: HostileConnection, turn: number): Promise<void> {
    const kind = this.#kinds[turn % this.#kinds.length] ?? 'socket'
    try {
      if (kind === 'socket') await this.#query(connection)
      else this.#judge(kind, await connection.send(buildRequest(kind, this.#runs, turn)))
    } catch {
      this.#count('broken')
      await after(100)
    }
  }

  async #query(connection: HostileConnection): Promise<void> {
    const answers = await querySocket(connection, this.#url, this.#runs)
    this.#count('socket replies', answers.replies - answers.overloaded)
    this.#count('socket OVERLOADED', answers.overloaded)
    if (answers.withoutRetry > 0) this.violations.push('WebSocket: OVERLOADED without retryAfterMs')
  }

  #judge(kind: string, answer: Awaited<ReturnType<HostileConnection['send']>>): void {
    const { status, retryAfter, text } = answer
    this.#count(String(status))
    if (status === 503 && retryAfter === undefined)
      this.violations.push(`${kind}: 503 without Retry-After: ${text}`)
    else if (status >= 500 && status !== 503) this.violations.push(`${kind}: ${status} ${text}`)
  }

  #count(what: string, count = 1): void {
    this.statuses[what] = (this.statuses[what] ?? 0) + count
  }
}

/** Submits the runs with long outputs and waits until they have ended. */
async function submitLoudRuns(url: string): Promise<KnownRuns> {
  using connection = new HostileConnection(url, HOSTILE)
  const loud: string[] = []
  for (let count = 0; count < LOUD_RUNS; count += 1) {
    const runId = `loud-${count}`
    const { status, text } = await connection.send({
      method: 'POST',
      path: '/api/runs?wait=60',
      body: JSON.stringify({ ensemble: 'loud', runId, inputs: { topic: 't'.repeat(200_000) } }),
    })
    if (status !== 200) throw new Error(`Failed to execute ${runId}: ${status} ${text}`)
    loud.push(runId)
  }
  return { loud }
}

/** Measures the requests of the other caller in a process. */
function watchCaller(url: string) {
  const child = fork(WATCH, [url, POLITE])
  const times = {
    health: [] as number[],
    read: [] as number[],
    submit: [] as number[],
    result: [] as number[],
  }
  const problems: string[] = []
  let heapBytes = 0
  child.on('message', (finding: Finding) => {
    if (finding.kind === 'heap') {
      heapBytes = Math.max(heapBytes, finding.bytes)
      return
    }
    const { kind, ms, problem } = finding
    times[kind].push(ms)
    if (problem !== undefined)
      problems.push(`${kind} of another key after ${Math.round(ms)} ms: ${problem}`)
  })
  return {
    stop() {
      child.kill()
      return { times, problems, heapBytes }
    },
  }
}

/** Checks that the server works after the load. */
async function findLateProblems(url: string): Promise<readonly string[]> {
  using connection = new HostileConnection(url, POLITE)
  const { status, text } = await connection.send({
    method: 'POST',
    path: '/api/runs',
    body: JSON.stringify({ ensemble: 'echo', inputs: { topic: 'tea' } }),
  })
  return status === 202 ? [] : [`After the load, a submission got ${status} ${text}`]
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
