import { describe, expect, it } from 'vitest'

import { planTicks } from './plan-tick.ts'

import type { ScheduleDefinition } from '../domain/schedule.ts'

const NOON = Date.parse('2027-01-01T12:00:00Z')
const MINUTE = 60_000

function plan(changes: Partial<ScheduleDefinition>, tick: number, now: number) {
  const definition = { cron: '* * * * *', run: {}, ...changes }
  const { ticks, next, skipped } = planTicks({ name: 'a', definition }, tick, now)
  return { ticks, next, hasSkipped: skipped !== undefined }
}

describe('planTicks', () => {
  it('planTicks submits a tick that is on time, with every value of catchUp', () => {
    for (const catchUp of ['skip', 'last', 'all'] as const) {
      expect(plan({ catchUp }, NOON, NOON + MINUTE)).toEqual({
        ticks: [NOON],
        next: NOON + MINUTE,
        hasSkipped: false,
      })
    }
  })

  it('planTicks leaves out ticks that are more than a minute late with skip', () => {
    expect(plan({ catchUp: 'skip' }, NOON, NOON + 10 * MINUTE)).toEqual({
      ticks: [],
      next: NOON + 9 * MINUTE,
      hasSkipped: true,
    })
  })

  it('planTicks submits only the last tick with last', () => {
    expect(plan({}, NOON, NOON + 10 * MINUTE + 1)).toEqual({
      ticks: [NOON + 10 * MINUTE],
      next: NOON + 11 * MINUTE,
      hasSkipped: true,
    })
    expect(plan({ cron: '0 12 * * *' }, NOON, NOON + 10 * MINUTE)).toEqual({
      ticks: [NOON],
      next: NOON + 24 * 60 * MINUTE,
      hasSkipped: false,
    })
  })

  it('planTicks submits the last 100 ticks in their order with all', () => {
    const few = plan({ catchUp: 'all' }, NOON, NOON + 2 * MINUTE)
    expect(few.ticks).toEqual([NOON, NOON + MINUTE, NOON + 2 * MINUTE])
    expect(few.hasSkipped).toBe(false)
    const many = plan({ catchUp: 'all' }, NOON, NOON + 200 * MINUTE)
    expect([many.ticks.length, many.ticks[0], many.ticks.at(-1), many.next]).toEqual([
      100,
      NOON + 101 * MINUTE,
      NOON + 200 * MINUTE,
      NOON + 201 * MINUTE,
    ])
    expect(many.hasSkipped).toBe(true)
  })
})
