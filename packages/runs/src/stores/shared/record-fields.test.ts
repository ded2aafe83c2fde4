import { ReviewKind } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { isDelivered } from '../../domain/delivered-events.ts'
import { formatDeliveryId, parseDeliveryId } from './record-fields.ts'
import {
  completed,
  ODD_TEXT,
  result,
  reviewRequested,
} from '../../testing/support/event-fixtures.ts'

describe('a delivery id', () => {
  it.for(['hook', 'a:1:b', '', ODD_TEXT, 'two\nlines'])(
    '[RUNS-O1] A delivery id round-trips the run, the event and the webhook %j',
    (webhook) => {
      const parts = { runId: 'run-a_1', seq: 12, webhook }
      expect(formatDeliveryId(parts)).toBe(`run-a_1:12:${webhook}`)
      expect(parseDeliveryId(formatDeliveryId(parts))).toEqual(parts)
    },
  )

  it.for(['', 'run-a', 'run-a:1', 'run-a:x:hook', 'run-a:-1:hook', `run-a:${'1'.repeat(10)}:h`])(
    'A delivery id rejects %j',
    (id) => {
      expect(parseDeliveryId(id)).toBeUndefined()
    },
  )
})

describe('isDelivered', () => {
  it('[RUNS-O1] isDelivered is true only for the end of a run and for reviews that people decide', () => {
    expect([result('run-a'), reviewRequested('review-a')].every(isDelivered)).toBe(true)
    const delivered = ReviewKind.enum.filter((kind) => isDelivered(reviewRequested('a', { kind })))
    expect(delivered).toEqual(['TASK_INPUT', 'TASK_OUTPUT', 'TOOL_CALL', 'QUESTION'])
    expect(isDelivered(completed)).toBe(false)
  })
})
