import { describe, expect, it } from 'vitest'

import { eventInstant } from './event-instant.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const PLACE = { runId: 'r', seq: 0, id: 'r:0' }
const AT = '2026-01-01T00:00:04.500Z'
const DIRECTIVE = { type: 'directive_active', directiveId: 'd', content: 'Be short' } as const

describe('when an event was', () => {
  it.each<[string, LoggedRunEvent]>([
    ['it was taken up', { ...DIRECTIVE, activeAt: AT, ...PLACE }],
    ['it was switched', { type: 'model_switched', model: 'm', switchedAt: AT, ...PLACE }],
    [
      'it was decided',
      { type: 'review_decided', reviewId: 'v', decision: 'CONTINUE', decidedAt: AT, ...PLACE },
    ],
  ])('is when %s', (_, event) => {
    expect(eventInstant(event)).toBe(Date.parse(AT))
  })

  it('is not when it comes to an end, and not known of an event that does not say', () => {
    expect(eventInstant({ ...DIRECTIVE, expiresAt: AT, ...PLACE })).toBeUndefined()
    const silent = { type: 'review_timed_out', reviewId: 'v', action: 'FAIL', ...PLACE } as const
    expect(eventInstant(silent)).toBeUndefined()
  })
})
