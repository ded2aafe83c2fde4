/** What processes of a measurement say: each over a socket of this machine, one JSON object a line. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

import { nowMs } from './runs-teams.ts'

/** Something that a process says. */
export interface Report {
  /** Name of the process. */
  readonly from: string
  readonly kind: 'ready' | 'called' | 'aborted' | 'resumed' | 'latencies'
  readonly runId?: string
  readonly values?: readonly number[]
  /** When it was said, by `nowMs`. */
  readonly atMs: number
}

/** What a report must be. */
export type ReportMatch = Pick<Report, 'kind'> & Partial<Pick<Report, 'from' | 'runId'>>

/** Where processes report to; those that still do end when it is disposed of. */
export interface Reports extends AsyncDisposable {
  readonly port: number
  /** The first report that matches and was not given before; waits for it. @throws {Error} when none comes. */
  next(match: ReportMatch): Promise<Report>
}

/** Says something to whoever listens. */
export interface Reporter extends Disposable {
  report(report: Omit<Report, 'from' | 'atMs'>): void
  /** Resolves when nobody listens any more. */
  readonly ended: Promise<void>
}

interface Waiter {
  readonly match: ReportMatch
  readonly resolve: (report: Report) => void
}

/** Longer than anything that is reported takes, in milliseconds. */
const LIMIT_MS = 30_000

/** Listens on a free port of 127.0.0.1. */
export async function openReports(): Promise<Reports> {
  const kept: Report[] = []
  const waiting = new Set<Waiter>()
  const sockets = new Set<Socket>()
  const take = (report: Report): void => {
    const waiter = [...waiting].find(({ match }) => isMatch(report, match))
    if (waiter === undefined) kept.push(report)
    else waiter.resolve(report)
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    // NOTE: only reporters write to this socket.
    createInterface({ input: socket }).on('line', (line) => take(JSON.parse(line) as Report))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  // NOTE: a server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    port,
    next(match) {
      const at = kept.findIndex((report) => isMatch(report, match))
      const [found] = at === -1 ? [] : kept.splice(at, 1)
      return found === undefined ? arrival(waiting, match) : Promise.resolve(found)
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

/** Connects a process of that name to the reports on a port. */
export async function openReporter(port: number, name: string): Promise<Reporter> {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  const ended = Promise.withResolvers<void>()
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    ended.resolve()
  })
  return {
    report: (report) => {
      socket.write(`${JSON.stringify({ ...report, from: name, atMs: nowMs() })}\n`)
    },
    ended: ended.promise,
    [Symbol.dispose]: () => {
      socket.end()
    },
  }
}

function arrival(waiting: Set<Waiter>, match: ReportMatch): Promise<Report> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      waiting.delete(waiter)
      reject(new Error(`Nobody reported ${JSON.stringify(match)} within ${LIMIT_MS} ms`))
    }, LIMIT_MS)
    const waiter: Waiter = {
      match,
      resolve(report) {
        clearTimeout(limit)
        waiting.delete(waiter)
        resolve(report)
      },
    }
    waiting.add(waiter)
  })
}

function isMatch(report: Report, { kind, from, runId }: ReportMatch): boolean {
  return (
    report.kind === kind &&
    (from === undefined || report.from === from) &&
    (runId === undefined || report.runId === runId)
  )
}
