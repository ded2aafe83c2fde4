import { afterEach, beforeEach, expect, test, vi, type Mock } from 'vitest'

import { race, type Runner } from './runners.ts'

let print: Mock

beforeEach(() => {
  print = vi.spyOn(console, 'log').mockReturnValue()
})

afterEach(() => {
  vi.restoreAllMocks()
})

const OPTIONS = { width: 3, answer: 'done', calls: 10, rounds: 2 }

test('executes the prepared number of runs in each round, at most the width at a time', async () => {
  const prepared: number[] = []
  let runs = 0
  let running = 0
  let most = 0
  const runner: Runner = {
    name: 'runner',
    prepare: (count) => prepared.push(count),
    async run() {
      runs += 1
      running += 1
      most = Math.max(most, running)
      await Promise.resolve()
      running -= 1
      return 'done'
    },
  }
  await race([runner], [], OPTIONS)
  expect(prepared).toEqual([10, 10, 10])
  expect({ runs, most }).toEqual({ runs: 30, most: 3 })
})

test('warms up for the given time in whole rounds, which do not count', async () => {
  let nowMs = 0
  let runs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const warming: Runner = {
    name: 'warming',
    async run() {
      runs += 1
      nowMs += runs <= 30 ? 5 : 1
      return 'done'
    },
  }
  await race([warming], [], { ...OPTIONS, width: 1, warmUpMs: 101 })
  expect(runs).toBe(30 + 20)
  expect(print.mock.calls[1]).toEqual(['warming: 1000 us a run, 1.0 times, 1000 runs/s'])
})

test('does not measure the preparation of a round', async () => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const slowToStart: Runner = {
    name: 'runner',
    prepare: () => (nowMs += 1_000),
    async run() {
      nowMs += 1
      return 'done'
    },
  }
  await race([slowToStart], [], OPTIONS)
  expect(print.mock.calls[1]).toEqual(['runner: 1000 us a run, 1.0 times, 1000 runs/s'])
})

test('throws for a wrong answer, with the runner and both answers', async () => {
  const lazy = { name: 'lazy', run: () => Promise.resolve('nothing') }
  const error = 'lazy answered "nothing", not "done"'
  await expect(race([runnerOf('first'), lazy], [], OPTIONS)).rejects.toThrow(error)
})

test('prints a line for each runner and each claim', async () => {
  const [own, peer] = [runnerOf('own'), runnerOf('peer')]
  const claims = [0, Infinity].map((times) => ({ slower: peer, faster: own, times }))
  await race([own, peer], claims, OPTIONS)
  const lines = print.mock.calls.map(([line]) => String(line))
  expect(lines).toHaveLength(5)
  expect(lines[0]).toBe('3 at a time:')
  expect(lines[1]).toMatch(/^own: \d+ us a run, 1\.0 times, (\d+|Infinity) runs\/s$/)
  expect(lines[2]).toMatch(/^peer: \d+ us a run, [\d.]+ times, (\d+|Infinity) runs\/s$/)
  expect(lines[3]).toMatch(/^CLAIM peer takes at least 0 times as long as own, .* times, met$/)
  expect(lines[4]).toMatch(/^CLAIM peer takes at least Infinity .* times, NOT met$/)
})

test('divides the time of the slower by that of the faster for a claim', async () => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const taking = (name: string, ms: number): Runner => ({
    name,
    async run() {
      nowMs += ms
      return 'done'
    },
  })
  const [own, peer] = [taking('own', 2), taking('peer', 9)]
  await race([own, peer], [{ slower: peer, faster: own, times: 5 }], { ...OPTIONS, width: 1 })
  expect(print.mock.calls.map(([line]) => String(line))).toEqual([
    '1 at a time:',
    'own: 2000 us a run, 1.0 times, 500 runs/s',
    'peer: 9000 us a run, 4.5 times, 111 runs/s',
    'CLAIM peer takes at least 5 times as long as own, 1 at a time: 4.5 times, NOT met',
  ])
})

function runnerOf(name: string): Runner {
  return { name, run: () => Promise.resolve('done') }
}
