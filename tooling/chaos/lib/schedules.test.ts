import { describe, expect, it } from 'vitest'

import { judgeTicks } from './schedules.ts'

const FIRST = Date.UTC(2027, 0)
const good = {
  name: 'a',
  first: FIRST,
  last: FIRST + 2_000,
  runs: [0, 1, 2].map((n) => FIRST + n * 1_000),
}

describe('judgeTicks', () => {
  it('judgeTicks accepts one run for each tick, and runs after the last settled tick', () => {
    expect(judgeTicks(good)).toEqual([])
    expect(judgeTicks({ ...good, runs: [...good.runs, FIRST + 3_000] })).toEqual([])
  })

  it('judgeTicks reports a tick without a run, one with two, and a run at another time', () => {
    expect(judgeTicks({ ...good, runs: [FIRST, FIRST, FIRST + 2_000, FIRST + 500] })).toEqual([
      'a has 2 runs at 2027-01-01T00:00:00.000Z',
      'a has 0 runs at 2027-01-01T00:00:01.000Z',
      'a has a run at 2027-01-01T00:00:00.500Z, which is not a tick',
    ])
  })
})
