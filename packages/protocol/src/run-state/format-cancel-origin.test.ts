import { describe, expect, it } from 'vitest'

import { formatCancelOrigin } from './format-cancel-origin.ts'

describe('formatCancelOrigin', () => {
  it('formatCancelOrigin names the cause, and the key of the caller if there is one', () => {
    expect(formatCancelOrigin({ cause: 'CALLER' })).toBe('requested')
    expect(formatCancelOrigin({ cause: 'CALLER', actor: 'ci' })).toBe('requested by ci')
    expect(formatCancelOrigin({ cause: 'SERVER' })).toBe('by the server')
    expect(formatCancelOrigin({ cause: 'CLIENT_LEFT', actor: 'ci' })).toBe(
      'the client left (key ci)',
    )
  })
})
