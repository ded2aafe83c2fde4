import { describe, expect, it } from 'vitest'

import { eventTime } from './event-time.ts'

import type { RunEvent } from './schemas/run-event.ts'

const AT = '2026-01-01T00:00:04.500Z'
const DIRECTIVE = { type: 'directive_active', directiveId: 'd', content: 'Be short' } as const

describe('eventTime', () => {
  it.each<[string, RunEvent]>([
    ['it was applied', { ...DIRECTIVE, activeAt: AT }],
    ['it was switched', { type: 'model_switched', model: 'm', switchedAt: AT }],
    [
      'it was decided',
      { type: 'review_decided', reviewId: 'v', decision: 'CONTINUE', decidedAt: AT },
    ],
  ])('eventTime returns the time at which %s', (_, event) => {
    expect(eventTime(event)).toBe(Date.parse(AT))
  })

  it('eventTime ignores the expiry, and returns undefined for an event without a time', () => {
    expect(eventTime({ ...DIRECTIVE, expiresAt: AT })).toBeUndefined()
    const silent = { type: 'review_timed_out', reviewId: 'v', action: 'FAIL' } as const
    expect(eventTime(silent)).toBeUndefined()
  })
})
