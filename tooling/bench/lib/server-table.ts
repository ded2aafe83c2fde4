/** Prints results of servers as a table: a line per result, a column per server, and the ratio of ours. */
import { median } from './measure.ts'

import type { ServerProduct } from './server-products.ts'

/** Result of one round. */
export interface ServerFigures {
  readonly readyMs: number
  readonly firstMs: number
  readonly resultMs: number
  /** Runs per second, by number of concurrent runs. */
  readonly perSecond: readonly number[]
  /** Milliseconds, or the reason for their absence; undefined when the server has no such address. */
  readonly toolMs: number | string | undefined
  readonly memoryMiB: number
}

/** A server and its rounds. */
export interface MeasuredServer {
  readonly product: Pick<ServerProduct, 'name' | 'storage' | 'isVariant'>
  readonly figures: readonly ServerFigures[]
}

interface Row {
  readonly label: string
  readonly valueOf: (figures: ServerFigures) => number
  readonly digits: number
  /** Direction of better values. @default 'less' */
  readonly better?: 'more'
}

/** Prints the table. The first server is ours; the ratio compares it with the best of the others. */
export function printServers(servers: readonly MeasuredServer[], widths: readonly number[]): void {
  const [own, ...others] = servers
  if (own === undefined) return
  const peers = others.filter(({ product }) => product.isVariant !== true)
  const names = servers.map(({ product }) => product.name)
  printLine('median of the rounds', [...names, 'ours to the best of the others'])
  for (const row of rowsFor(widths)) {
    const valueFor = ({ figures }: MeasuredServer): number => median(figures.map(row.valueOf))
    const ratio = peers.length === 0 ? '' : ratioOf(valueFor(own), peers.map(valueFor), row)
    printLine(row.label, [...servers.map((it) => valueFor(it).toFixed(row.digits)), ratio])
  }
  printLine('direct tool call, ms', servers.map(toolOf))
  printLine(
    'keeps',
    servers.map(({ product }) => product.storage),
  )
}

function rowsFor(widths: readonly number[]): readonly Row[] {
  return [
    { label: 'start to ready, ms', valueOf: ({ readyMs }) => readyMs, digits: 0 },
    { label: 'submit to first event, ms', valueOf: ({ firstMs }) => firstMs, digits: 1 },
    { label: 'submit to result, ms', valueOf: ({ resultMs }) => resultMs, digits: 1 },
    ...widths.map((width, index): Row => ({
      label: `runs/s, ${width} at once`,
      valueOf: ({ perSecond }) => perSecond[index] ?? Number.NaN,
      digits: 0,
      better: 'more',
    })),
    { label: 'memory after it, MiB', valueOf: ({ memoryMiB }) => memoryMiB, digits: 0 },
  ]
}

/** Returns how many times better ours is than the best of the others. */
export function ratioOf(
  own: number,
  others: readonly number[],
  { better }: Pick<Row, 'better'> = {},
): string {
  const times = better === 'more' ? own / Math.max(...others) : Math.min(...others) / own
  return `${times.toFixed(1)} times better`
}

function toolOf({ figures }: MeasuredServer): string {
  const values = figures.map(({ toolMs }) => toolMs)
  const times = values.filter((value) => typeof value === 'number')
  if (times.length > 0) return median(times).toFixed(1)
  return values.find((value) => typeof value === 'string') ?? 'none'
}

function printLine(label: string, cells: readonly string[]): void {
  console.log(`${label}: ${cells.join(' | ')}`)
}
