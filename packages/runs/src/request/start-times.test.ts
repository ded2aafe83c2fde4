import { describe, expect, it } from 'vitest'

import { findStartProblems, findStartTimes } from './start-times.ts'

const NOW = Date.parse('2027-03-15T10:00:00Z')
const YEAR_MS = 366 * 24 * 3_600_000

describe('findStartProblems', () => {
  it('findStartProblems accepts times up to 366 days ahead, and times in the past', () => {
    const startAt = new Date(NOW + YEAR_MS).toISOString()
    expect(findStartProblems({ startAt, maxQueueMs: YEAR_MS }, NOW)).toEqual([])
    expect(findStartProblems({ startAt: '1999-01-01T00:00:00Z' }, NOW)).toEqual([])
    expect(findStartProblems({ startAfterMs: 0 }, NOW)).toEqual([])
  })

  it('findStartProblems reports every problem with its path', () => {
    const startAt = new Date(NOW + YEAR_MS + 1).toISOString()
    const problems = findStartProblems({ startAt, startAfterMs: 1.5, maxQueueMs: 0 }, NOW)
    expect(problems.map(({ path }) => path)).toEqual([
      '/startAt',
      '/startAfterMs',
      '/startAfterMs',
      '/maxQueueMs',
    ])
    expect(findStartProblems({ startAt: 'tomorrow' }, NOW)).toEqual([
      {
        path: '/startAt',
        message: 'must be a time such as 2027-03-15T10:30:00Z, got "tomorrow"',
      },
    ])
  })
})

describe('findStartTimes', () => {
  it('findStartTimes counts the time in the queue from the time at which the run may start', () => {
    const startAt = new Date(NOW + 60_000).toISOString()
    expect(findStartTimes({ startAt, maxQueueMs: 5_000 }, NOW)).toEqual({
      startAt: NOW + 60_000,
      startBy: NOW + 65_000,
    })
    expect(findStartTimes({ startAfterMs: 1_000 }, NOW)).toEqual({ startAt: NOW + 1_000 })
  })

  it('findStartTimes starts a run at once whose time has passed', () => {
    const startAt = new Date(NOW - 60_000).toISOString()
    expect(findStartTimes({ startAt, maxQueueMs: 5_000 }, NOW)).toEqual({ startBy: NOW + 5_000 })
  })
})
