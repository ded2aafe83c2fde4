import { afterEach, beforeEach, expect, test, vi, type Mock } from 'vitest'

import { printRunCost } from './run-cost.ts'

let print: Mock

beforeEach(() => {
  print = vi.spyOn(console, 'log').mockReturnValue()
})

afterEach(() => {
  vi.restoreAllMocks()
})

test('The cost of a run is the time of the fastest tenth of rounds and the median of the growth of the heap', async () => {
  let runs = 0
  // One round has a collection, which reduces the heap.
  const heapUsed = (): number => runs * 51_200 - (runs >= 12_000 ? 9_000_000 : 0)
  // Other programs interrupt four of five rounds.
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  vi.spyOn(process, 'memoryUsage').mockImplementation(
    Object.assign(() => ({ ...MEMORY, heapUsed: heapUsed() }), { rss: () => 0 }),
  )
  const runner = {
    name: 'own',
    async run() {
      runs += 1
      nowMs += Math.ceil(runs / 20) % 5 === 0 ? 0.03 : 0.3
      return 'done'
    },
  }
  await printRunCost('story', runner, { us: 29, allocatedKb: 50 })
  const lines = print.mock.calls.flatMap(([text]) => String(text).split('\n'))
  expect(lines.filter((line) => line.startsWith('| own'))).toEqual([
    expect.stringMatching(/^\| own +\| 30 +\| 50 +\|$/),
  ])
  expect(lines.filter((line) => line.startsWith('CLAIM'))).toEqual([
    'CLAIM story: a run takes at most 29 µs in the fastest tenth of rounds: 30 µs, NOT met',
    'CLAIM story: a run allocates at most 50 KB: 50 KB, met',
  ])
})

const MEMORY = { rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }
