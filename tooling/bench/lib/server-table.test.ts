import { afterEach, expect, test, vi } from 'vitest'

import { printServers, ratioOf, type ServerFigures } from './server-table.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const FIGURES: ServerFigures = {
  readyMs: 200,
  firstMs: 2,
  resultMs: 4,
  perSecond: [100, 1_000],
  toolMs: 0.5,
  memoryMiB: 120,
}

function printed(...servers: Parameters<typeof printServers>[0]): readonly string[] {
  const print = vi.spyOn(console, 'log').mockReturnValue()
  printServers(servers, [1, 20])
  return print.mock.calls.map(([line]) => String(line))
}

test('compares ours with the best of the others, for both directions', () => {
  expect(ratioOf(2, [8, 4, 6])).toBe('2.0 times better')
  expect(ratioOf(300, [100, 150, 60], { better: 'more' })).toBe('2.0 times better')
  expect(ratioOf(8, [4])).toBe('0.5 times better')
})

test('prints the medians of the rounds, ours first', () => {
  const own = [3, 1, 2].map((firstMs) => ({ ...FIGURES, firstMs }))
  const peer = [{ ...FIGURES, firstMs: 5, perSecond: [50, 100] }]
  const lines = printed(
    { product: { name: 'Tutti', storage: 'SQLite' }, figures: own },
    { product: { name: 'Other', storage: 'none' }, figures: peer },
  )
  expect(lines).toEqual([
    'median of the rounds: Tutti | Other | ours to the best of the others',
    'start to ready, ms: 200 | 200 | 1.0 times better',
    'submit to first event, ms: 2.0 | 5.0 | 2.5 times better',
    'submit to result, ms: 4.0 | 4.0 | 1.0 times better',
    'runs/s, 1 at once: 100 | 50 | 2.0 times better',
    'runs/s, 20 at once: 1000 | 100 | 10.0 times better',
    'memory after it, MiB: 120 | 120 | 1.0 times better',
    'direct tool call, ms: 0.5 | 0.5',
    'keeps: SQLite | none',
  ])
})

test('prints nothing for a server without tools, and the reason for one that rejects calls', () => {
  const lines = printed(
    { product: { name: 'Tutti', storage: '' }, figures: [{ ...FIGURES, toolMs: 'status 501' }] },
    { product: { name: 'Other', storage: '' }, figures: [{ ...FIGURES, toolMs: undefined }] },
  )
  expect(lines).toContain('direct tool call, ms: status 501 | none')
})

test('prints ours with other settings, without comparing them', () => {
  const storage = ''
  const fast = [{ ...FIGURES, firstMs: 1 }]
  const lines = printed(
    { product: { name: 'Tutti', storage }, figures: [FIGURES] },
    { product: { name: 'Tutti, fast', storage, isVariant: true }, figures: fast },
    { product: { name: 'Other', storage }, figures: [{ ...FIGURES, firstMs: 4 }] },
  )
  expect(lines).toContain('submit to first event, ms: 2.0 | 1.0 | 4.0 | 2.0 times better')
})

test('prints no ratio for ours alone', () => {
  const lines = printed({ product: { name: 'Tutti', storage: '' }, figures: [FIGURES] })
  expect(lines).toContain('submit to first event, ms: 2.0 | ')
})
