import { afterEach, expect, test, vi } from 'vitest'

import { printServers, type MeasuredServer, type ServerMeasurements } from './server-table.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const FIGURES: ServerMeasurements = {
  readyMs: 200,
  firstMs: 2,
  resultMs: 4,
  perSecond: [100, 1_000, 1_200],
  cpuMs: [3, 1, 1],
  arrivalMs: [5, 9],
  probeMs: 4,
  toolMs: 0.5,
  memoryMiB: 120,
}

const TUTTI = { name: 'Tutti', kind: 'ours', storage: 'SQLite' } as const
const LIMIT = { name: 'least', kind: 'limit', storage: 'SQLite' } as const
const PEER = { name: 'Other', kind: 'peer in memory', storage: 'memory' } as const
const DURABLE = { name: 'Other, durable', kind: 'durable peer', storage: 'libSQL' } as const

function printed(...servers: readonly MeasuredServer[]): string {
  const print = vi.spyOn(console, 'log').mockReturnValue()
  printServers(servers)
  return print.mock.calls.map(([line]) => String(line)).join('\n')
}

/** The cells of the line of a server. */
function cellsOf(text: string, name: string): readonly string[] {
  const line = text.split('\n').find((it) => it.startsWith(`| ${name} `))
  return (line ?? '')
    .split('|')
    .map((cell) => cell.trim())
    .slice(2, -1)
}

test('The server table prints the medians of the rounds, and how many times as fast ours is', () => {
  const own = [3, 1, 2].map((firstMs) => ({ ...FIGURES, firstMs }))
  const text = printed(
    { product: TUTTI, measurements: own },
    { product: PEER, measurements: [{ ...FIGURES, perSecond: [50, 250, 300], toolMs: undefined }] },
  )
  expect(cellsOf(text, 'Tutti')).toEqual([
    'SQLite',
    '2',
    '4',
    '100',
    '1,000',
    '1,200',
    '1',
    '1',
    '5',
    '9',
    '4',
    '120',
    '200',
    '0.5',
  ])
  expect(cellsOf(text, 'Other')).toEqual([
    'memory',
    '2',
    '4',
    '50',
    '250',
    '300',
    '4',
    '1',
    '5',
    '9',
    '4',
    '120',
    '200',
    '–',
  ])
})

test('The server table claims nothing about peers that were not measured', () => {
  const text = printed(
    { product: TUTTI, measurements: [FIGURES] },
    { product: LIMIT, measurements: [{ ...FIGURES, cpuMs: [1, 0.5, 1] }] },
  )
  expect(text).toContain(
    'at least 50 % of the least of a durable server, by processor time: 50 %, met',
  )
  expect(text).not.toContain('peer')
})

test('The server table compares ours with the best peer of each kind', () => {
  const text = printed(
    { product: TUTTI, measurements: [FIGURES] },
    { product: PEER, measurements: [{ ...FIGURES, perSecond: [1, 400, 1] }] },
    { product: { ...PEER, name: 'Slow' }, measurements: [{ ...FIGURES, perSecond: [1, 10, 1] }] },
    { product: DURABLE, measurements: [{ ...FIGURES, perSecond: [1, 100, 1] }] },
  )
  expect(text).toContain('at least 3 times the best peer in memory: 2.5 times, NOT met')
  expect(text).toContain('at least 10 times the best durable peer: 10 times, met')
})

test('The server table does not meet a claim about a kind of peers that could not be installed', () => {
  const text = printed(
    { product: TUTTI, measurements: [FIGURES] },
    { product: PEER, measurements: [FIGURES] },
  )
  expect(text).toContain('the best durable peer: not measured, NOT met')
})

test('The server table prints the reason when a server rejects direct tool calls', () => {
  const measurements = [{ ...FIGURES, toolMs: 'status 501' }]
  expect(cellsOf(printed({ product: TUTTI, measurements }), 'Tutti').at(-1)).toBe('status 501')
})
