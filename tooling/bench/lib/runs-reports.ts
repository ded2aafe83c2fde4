/** Carries reports of the processes of a measurement over a local socket, one JSON object per line. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

import { nowMs } from './runs-teams.ts'

/** A report of a process. */
export interface Report {
  /** Name of the process. */
  readonly from: string
  readonly kind: 'ready' | 'called' | 'aborted' | 'resumed' | 'latencies'
  readonly runId?: string
  readonly values?: readonly number[]
  /** Time of the report, by `nowMs`. */
  readonly atMs: number
}

/** Condition for a report. */
export type ReportMatch = Pick<Report, 'kind'> & Partial<Pick<Report, 'from' | 'runId'>>

/** Listener of reports; disposing ends the processes that still report. */
export interface Reports extends AsyncDisposable {
  readonly port: number
  /** Waits for the next matching report. @throws {Error} at the time limit. */
  next(match: ReportMatch): Promise<Report>
}

/** Sends a report. */
export interface Reporter extends Disposable {
  report(report: Omit<Report, 'from' | 'atMs'>): void
  /** Resolves when the listener has closed. */
  readonly ended: Promise<void>
}

interface Waiter {
  readonly match: ReportMatch
  readonly resolve: (report: Report) => void
}

/** Longer than any reported action takes, in milliseconds. */
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
  // NOTE: a listening server has an address of this shape.
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

/** Connects a process with this name to the listener on a port. */
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
      reject(new Error(`No report matched ${JSON.stringify(match)} within ${LIMIT_MS} ms`))
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
