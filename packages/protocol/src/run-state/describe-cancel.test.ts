import { describe, expect, it } from 'vitest'

import { describeCancel } from './describe-cancel.ts'

describe('describeCancel', () => {
  it('names the cause, and the key of the caller if there is one', () => {
    expect(describeCancel({ cause: 'CALLER' })).toBe('requested')
    expect(describeCancel({ cause: 'CALLER', actor: 'ci' })).toBe('requested by ci')
    expect(describeCancel({ cause: 'SERVER' })).toBe('by the server')
    expect(describeCancel({ cause: 'CLIENT_LEFT', actor: 'ci' })).toBe('the client left (key ci)')
  })
})
