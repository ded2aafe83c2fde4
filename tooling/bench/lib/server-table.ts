/** Prints results of servers as a table: a line per server, with the ratio of ours to it. */
import { median } from './measure.ts'
import { formatNumber, printClaim, printTable } from './report.ts'

import type { ServerProduct } from './server-products.ts'

/** Numbers of concurrent runs. */
export const WIDTHS = [1, 20, 50] as const

/** Rate of the runs that arrive independently of each other. */
export const PER_SECOND = 100

/** Result of one round. */
export interface ServerMeasurements {
  readonly readyMs: number
  readonly firstMs: number
  readonly resultMs: number
  /** Runs per second, by number of concurrent runs. */
  readonly perSecond: readonly number[]
  /** Processor time of the server per run, in milliseconds, by number of concurrent runs. */
  readonly cpuMs: readonly number[]
  /** Median and 99th percentile of the results of runs that arrive independently, in milliseconds. */
  readonly arrivalMs: readonly [number, number]
  /** 99th percentile of small requests meanwhile, in milliseconds. */
  readonly probeMs: number
  /** Milliseconds, or the reason for their absence; undefined when the server has no such address. */
  readonly toolMs: number | string | undefined
  readonly memoryMiB: number
}

/** A server and its rounds. */
export interface MeasuredServer {
  readonly product: Pick<ServerProduct, 'name' | 'kind' | 'storage'>
  readonly measurements: readonly ServerMeasurements[]
}

/** A server and the medians of its rounds. */
interface Line {
  readonly product: MeasuredServer['product']
  readonly readyMs: number
  readonly firstMs: number
  readonly resultMs: number
  readonly perSecond: readonly number[]
  readonly cpuMs: readonly number[]
  readonly arrivalMs: readonly number[]
  readonly probeMs: number
  readonly memoryMiB: number
  readonly tool: string
}

/** Prints the table and the claims. The first server is ours; the ratios compare it with each other server. */
export function printServers(servers: readonly MeasuredServer[]): void {
  const lines = servers.map(toLine)
  const [own] = lines
  if (own === undefined) return
  printTable({
    title: 'One agent run with one typed tool call over HTTP',
    columns: [
      'server',
      'promises',
      'first event, ms',
      'result, ms',
      ...WIDTHS.map((width) => `runs/s, ${width} at once`),
      'Tutti at 20, times',
      'processor ms a run, 20 at once',
      `${PER_SECOND} arrivals/s: result, ms`,
      'p99',
      'p99 of another request, ms',
      'memory, MiB',
      'start, ms',
      'tool call, ms',
    ],
    rows: lines.map((line) => [
      line.product.name,
      line.product.storage,
      formatNumber(line.firstMs),
      formatNumber(line.resultMs),
      ...line.perSecond.map((perSecond) => formatNumber(Math.round(perSecond))),
      line === own ? '1' : formatNumber(at20(own) / at20(line)),
      formatNumber(cpuAt20(line)),
      ...line.arrivalMs.map(formatNumber),
      formatNumber(line.probeMs),
      formatNumber(Math.round(line.memoryMiB)),
      formatNumber(Math.round(line.readyMs)),
      line.tool,
    ]),
  })
  printServerClaims(own, lines)
}

function printServerClaims(own: Line, lines: readonly Line[]): void {
  const ofKind = (kind: ServerProduct['kind']): readonly Line[] =>
    lines.filter(({ product }) => product.kind === kind)
  const inMemory = ofKind('peer in memory')
  const durable = ofKind('durable peer')
  const [limit] = ofKind('limit')
  printClaim({
    text: '20 at once: at least 50 % of the least of a durable server, by processor time',
    atLeast: 50,
    measured: limit === undefined ? Number.NaN : (100 * cpuAt20(limit)) / cpuAt20(own),
    unit: ' %',
  })
  printClaim({
    text: `${PER_SECOND} arrivals/s: 99 % of other requests take at most 10 ms`,
    atMost: 10,
    measured: own.probeMs,
    unit: ' ms',
  })
  printClaim({
    text: 'one at a time: submit to result in at most 2 ms',
    atMost: 2,
    measured: own.resultMs,
    unit: ' ms',
  })
  printClaim({
    text: 'at most 250 MiB after the load',
    atMost: 250,
    measured: own.memoryMiB,
    unit: ' MiB',
  })
  if (inMemory.length + durable.length === 0) return
  printClaim({
    text: '20 at once: at least 3 times the best peer in memory',
    atLeast: 3,
    measured: at20(own) / most(inMemory.map(at20)),
    unit: ' times',
  })
  printClaim({
    text: '20 at once: at least 10 times the best durable peer',
    atLeast: 10,
    measured: at20(own) / most(durable.map(at20)),
    unit: ' times',
  })
  printClaim({
    text: 'one at a time: the result before that of every peer',
    atLeast: 1,
    measured: Math.min(...[...inMemory, ...durable].map(({ resultMs }) => resultMs)) / own.resultMs,
    unit: ' times',
  })
}

function toLine({ product, measurements }: MeasuredServer): Line {
  const medianOf = (valueOf: (measurements: ServerMeasurements) => number): number =>
    median(measurements.map(valueOf))
  return {
    product,
    readyMs: medianOf(({ readyMs }) => readyMs),
    firstMs: medianOf(({ firstMs }) => firstMs),
    resultMs: medianOf(({ resultMs }) => resultMs),
    perSecond: WIDTHS.map((_, at) => medianOf(({ perSecond }) => perSecond[at] ?? Number.NaN)),
    cpuMs: WIDTHS.map((_, at) => medianOf(({ cpuMs }) => cpuMs[at] ?? Number.NaN)),
    arrivalMs: [medianOf((it) => it.arrivalMs[0]), medianOf((it) => it.arrivalMs[1])],
    probeMs: medianOf(({ probeMs }) => probeMs),
    memoryMiB: medianOf(({ memoryMiB }) => memoryMiB),
    tool: toolOf(measurements),
  }
}

function at20({ perSecond }: Line): number {
  return perSecond[WIDTHS.indexOf(20)] ?? Number.NaN
}

function cpuAt20({ cpuMs }: Line): number {
  return cpuMs[WIDTHS.indexOf(20)] ?? Number.NaN
}

/** Returns the largest value; NaN when there is none. */
function most(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : Math.max(...values)
}

function toolOf(measurements: readonly ServerMeasurements[]): string {
  const values = measurements.map(({ toolMs }) => toolMs)
  const times = values.filter((value) => typeof value === 'number')
  if (times.length > 0) return formatNumber(median(times))
  return values.find((value) => typeof value === 'string') ?? '–'
}
