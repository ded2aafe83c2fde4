import { describe, expect, it } from 'vitest'

import { formatClosingReason } from './closing-reason.ts'

describe('formatClosingReason', () => {
  it('formatClosingReason names the event after which the client can resume', () => {
    expect(formatClosingReason('Too slow', 'run-1:7')).toBe('Too slow; last event sent: run-1:7')
  })

  it('formatClosingReason returns the text alone when no event was sent', () => {
    expect(formatClosingReason('Too slow', '')).toBe('Too slow')
  })

  it('formatClosingReason fits into a close frame with the number of the event, even if the id is long', () => {
    const exact = `${'x'.repeat(94)}:1`
    expect(formatClosingReason('Too slow', exact)).toBe(`Too slow; last event sent: ${exact}`)
    const reason = formatClosingReason('Too slow', `${'x'.repeat(128)}:1234`)
    expect(reason).toMatch(/^Too slow; last event sent: ~x+:1234$/)
    expect(reason).toHaveLength(123)
  })
})
