import { afterEach, beforeEach, expect, test, vi, type Mock } from 'vitest'

import { race, type Runner } from './runners.ts'

let print: Mock

beforeEach(() => {
  print = vi.spyOn(console, 'log').mockReturnValue()
})

afterEach(() => {
  vi.restoreAllMocks()
})

const OPTIONS = { title: 'race', widths: [3], answer: 'done', calls: 10, rounds: 2 }

test('A runner executes the prepared number of runs in each round, at most the width at a time', async () => {
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

test('A runner warms up for the given time in whole rounds, which do not count', async () => {
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
  await race([warming], [], { ...OPTIONS, widths: [1], warmUpMs: 101 })
  expect(runs).toBe(30 + 20)
  expect(printed()).toMatch(/\| warming +\| 1,000 +\| 1 +\| 1,000 +\|/)
})

test('A runner does not measure the preparation of a round', async () => {
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
  expect(printed()).toMatch(/\| runner +\| 1,000 +\| 1 +\| 1,000 +\|/)
})

test('A runner throws for a wrong answer, with the runner and both answers', async () => {
  const lazy = { name: 'lazy', run: () => Promise.resolve('nothing') }
  const error = 'lazy answered "nothing", not "done"'
  await expect(race([runnerOf('first'), lazy], [], OPTIONS)).rejects.toThrow(error)
})

test('The report prints a line for each runner, and for each claim at each width', async () => {
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
  const claims = [4, 5].map((times) => ({ slower: peer, faster: own, times }))
  await race([own, peer], claims, { ...OPTIONS, widths: [1, 2] })
  const lines = printed().split('\n')
  expect(lines.filter((line) => line.startsWith('|')).slice(2)).toEqual([
    expect.stringMatching(/^\| own +\| 2,000 +\| 1 +\| 500 +\| 2,000 +\| 1 +\| 500 +\|$/),
    expect.stringMatching(/^\| peer +\| 9,000 +\| 4.5 +\| 111 +\| 9,000 +\| 4.5 +\| 111 +\|$/),
  ])
  expect(lines.filter((line) => line.startsWith('CLAIM'))).toEqual([
    'CLAIM race: peer takes at least 4 times as long as own, 1 at once: 4.5 times, met',
    'CLAIM race: peer takes at least 4 times as long as own, 2 at once: 4.5 times, met',
    'CLAIM race: peer takes at least 5 times as long as own, 1 at once: 4.5 times, NOT met',
    'CLAIM race: peer takes at least 5 times as long as own, 2 at once: 4.5 times, NOT met',
  ])
})

function printed(): string {
  return print.mock.calls.map(([line]) => String(line)).join('\n')
}

function runnerOf(name: string): Runner {
  return { name, run: () => Promise.resolve('done') }
}
