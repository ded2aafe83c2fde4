import { describe, expect, it } from 'vitest'

import {
  idleLeaseMs,
  nextPollMs,
  notificationGatherMs,
  notifiesOfEvents,
  readerPollMs,
  takesTurn,
} from './fleet-pace.ts'

/** The best constant of a linear congruential generator of 32 bits. @see https://doi.org/10.1090/S0025-5718-99-00996-5 */
const MULTIPLIER = 1_664_525

describe('nextPollMs', () => {
  it('[RUNS-Q10] nextPollMs is the interval of a single process, without jitter', () => {
    expect([0, 0.5, 1].map((random) => nextPollMs(1_000, 1, random))).toEqual([1_000, 1_000, 1_000])
  })

  it.for([2, 8, 16, 200, 1_000])(
    '[RUNS-Q10] nextPollMs lets %i processes poll at most 9 times a second, and never leaves 2 s without a poll',
    (pollers) => {
      const seconds = 3_000
      const random = generator()
      const polls = Array.from({ length: pollers }, () => listPolls(pollers, seconds, random))
        .flat()
        .toSorted((a, b) => a - b)
      const gaps = polls.slice(1).map((at, index) => at - (polls[index] ?? 0))
      expect(polls.length / seconds).toBeLessThanOrEqual(9)
      expect(Math.max(...gaps)).toBeLessThan(2_000)
    },
  )
})

describe('idleLeaseMs', () => {
  it('[RUNS-Q5] idleLeaseMs outlasts several polls and renewals', () => {
    const settings = { leaseMs: 10_000, pollMs: 1_000 }
    expect(idleLeaseMs(settings, 1)).toBe(30_000)
    expect(idleLeaseMs(settings, 200)).toBe(75_000)
  })
})

describe('notificationGatherMs', () => {
  it('[RUNS-N6] notificationGatherMs grows with the number of processes, from 25 ms up to 500 ms', () => {
    expect([1, 25, 200, 1_000].map(notificationGatherMs)).toEqual([25, 25, 200, 500])
  })
})

describe('readerPollMs', () => {
  it('[RUNS-F6] readerPollMs is short where processes do not notify each other of events', () => {
    const fleets = [1, 50, 51, 1_000]
    expect(fleets.map(readerPollMs)).toEqual([1_000, 1_000, 200, 200])
    expect(fleets.map(notifiesOfEvents)).toEqual([true, true, false, false])
  })
})

describe('takesTurn', () => {
  it('takesTurn is always true while there are no more processes than needed, and otherwise for a part of them', () => {
    expect([1, 5].map((processes) => takesTurn(5, processes, 0.999))).toEqual([true, true])
    expect([0.009, 0.01].map((random) => takesTurn(1, 100, random))).toEqual([true, false])
  })
})

/** The instants at which a process polls within `durationMs`, in milliseconds. */
function listPolls(pollers: number, seconds: number, random: () => number): readonly number[] {
  const polls: number[] = []
  let at = random() * nextPollMs(1_000, pollers, 0.5)
  while (at < seconds * 1_000) {
    polls.push(at)
    at += nextPollMs(1_000, pollers, random())
  }
  return polls
}

/** Returns numbers from 0 to 1 that are the same in every run of the test. */
function generator(): () => number {
  let state = 7
  return () => {
    state = (Math.imul(state, MULTIPLIER) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
