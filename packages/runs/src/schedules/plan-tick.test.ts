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

  it('planTicks submits every tick at its due time, also if the jitter is longer than the interval', () => {
    for (const catchUp of ['skip', 'last', 'all'] as const) {
      const changes = { cron: '* * * * *', catchUp, jitterMs: 60 * MINUTE }
      let tick = NOON
      for (let count = 0; count < 300; count += 1) {
        const { ticks, next = 0 } = plan(changes, tick, findDueTime('a', changes, tick))
        expect([ticks, next]).toEqual([[tick], tick + MINUTE])
        tick = next
      }
    }
  })

  it.each([
    ['skip', 0],
    ['last', 1],
    ['all', 100],
  ] as const)(
    'planTicks with jitter and %s submits the last %d due ticks after an outage, and continues with the next',
    (catchUp, count) => {
      const changes = { cron: '* * * * *', catchUp, jitterMs: 60 * MINUTE }
      for (let second = 0; second < 60; second += 7) {
        const now = NOON + 600 * MINUTE + second * 1_000
        const { ticks, next = 0, hasSkipped } = plan(changes, NOON, now)
        const due = (tick: number) => findDueTime('a', changes, tick)
        expect([ticks.length, hasSkipped]).toEqual([count, true])
        const end = catchUp === 'skip' ? now - MINUTE : now + 1
        expect(due(next)).toBeGreaterThanOrEqual(end)
        expect(due(next - MINUTE)).toBeLessThan(end)
        if (count > 0) expect(ticks.at(-1)).toBe(next - MINUTE)
      }
    },
  )

  it('planTicks submits a tick of an earlier expression that the new one does not have', () => {
    const tick = NOON + 30_000
    expect(plan({}, tick, tick + 1)).toEqual({
      ticks: [tick],
      next: NOON + MINUTE,
      hasSkipped: false,
    })
  })
})
