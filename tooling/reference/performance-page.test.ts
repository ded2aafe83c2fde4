import { expect, test } from 'vitest'

import { performancePage } from './performance-page.ts'

import type { Results } from '../bench/lib/results.ts'

const AREA = {
  area: 'agent',
  date: '2026-01-02',
  tables: [{ title: 'Speed', columns: ['', 'µs'], rows: [['Tutti', '33']] }],
  claims: [
    { text: 'fast', measured: '12 times', isMet: true },
    { text: 'small', measured: '20 MiB', isMet: false },
  ],
}
const RESULTS: Results = {
  machine: { cores: 2, processor: 'a processor', memoryGiB: 8, node: '24.0.0' },
  areas: [AREA],
}

test('The performance page lists the goals of all benchmarks, met or not', () => {
  const lines = performancePage(RESULTS).split('\n')
  expect(lines).toContain('| One agent in process | fast | 12 times | met |')
  expect(lines).toContain('| One agent in process | small | 20 MiB | NOT met |')
})

test('The performance page shows the tables of a benchmark with its date, in the order of the headings', () => {
  const server = { ...AREA, area: 'server', date: '2026-01-03' }
  const text = performancePage({ ...RESULTS, areas: [AREA, server] })
  expect(text).toContain('| Tutti | 33 |')
  expect(text).toContain('[`tooling/bench/agent.ts`](../tooling/bench/agent.ts), 2026-01-02.')
  expect(text.indexOf('## Over HTTP')).toBeLessThan(text.indexOf('## One agent in process'))
})

test('The performance page fails for a benchmark without a heading', () => {
  const results = { ...RESULTS, areas: [{ ...AREA, area: 'new' }] }
  expect(() => performancePage(results)).toThrow('The benchmark "new" has no heading')
})

const SERVER = {
  ...AREA,
  area: 'server',
  tables: [
    {
      title: 'Over HTTP',
      columns: [
        'server',
        'result, ms',
        'runs/s, 20 at once',
        'processor ms a run, 20 at once',
        '100 arrivals/s: result, ms',
        'p99 of another request, ms',
        'memory, MiB',
      ],
      rows: [['Tutti', '2', '1,000', '0.9', '4', '7', '200']],
    },
    { title: '1,000 WebSocket readers', columns: ['', 'messages/s'], rows: [['Tutti', '180,000']] },
  ],
}

test('The performance page begins with what a reader needs to choose', () => {
  const lines = performancePage({ ...RESULTS, areas: [SERVER] })
    .split('\n')
    .slice(0, 10)
  for (const text of [
    '1,000 runs',
    '180,000 events',
    'after 2 ms',
    '4 ms at the median',
    '0.9 ms a run',
  ]) {
    expect(lines.join('\n')).toContain(text)
  }
})

test('The performance page fails when a figure of its beginning was not measured', () => {
  const [runs = expect.fail(), streams = expect.fail()] = SERVER.tables
  const tables = [{ ...runs, columns: runs.columns.slice(0, -1), rows: [['Tutti']] }, streams]
  const page = (): string => performancePage({ ...RESULTS, areas: [{ ...SERVER, tables }] })
  expect(page).toThrow('"Over HTTP" has no "runs/s, 20 at once" of Tutti')
})
