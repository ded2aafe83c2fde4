import { describe, expect, it } from 'vitest'

import { planTicks } from './plan-tick.ts'
import { findDueTime } from './ticks.ts'

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

  it('planTicks submits one tick with last after an outage, also if the jitter is longer than the interval', () => {
    const changes = { jitterMs: 60 * MINUTE }
    const now = NOON + 600 * MINUTE
    const { ticks, hasSkipped } = plan(changes, NOON, now)
    const [last = 0] = ticks
    expect([ticks.length, hasSkipped]).toEqual([1, true])
    const due = (tick: number) => findDueTime('a', changes, tick)
    expect(due(last)).toBeLessThanOrEqual(now)
    for (let tick = last + MINUTE; tick <= now; tick += MINUTE)
      expect(due(tick)).toBeGreaterThan(now)
  })

  it('planTicks submits the last 100 due ticks with all, also if later ones are not due because of jitter', () => {
    const changes = { catchUp: 'all', jitterMs: 60 * MINUTE } as const
    const now = NOON + 600 * MINUTE
    const { ticks, next } = plan(changes, NOON, now)
    expect(ticks).toHaveLength(100)
    expect(ticks.every((tick) => findDueTime('a', changes, tick) <= now)).toBe(true)
    expect(next).toBe((ticks.at(-1) ?? 0) + MINUTE)
  })

  it('planTicks submits a tick of an earlier expression that the new one does not have', () => {
    const tick = NOON + 30_000
    expect(plan({}, tick, tick + 1)).toEqual({
      ticks: [tick],
      next: NOON + MINUTE,
      hasSkipped: false,
    })
  })
})
