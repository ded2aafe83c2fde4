import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { decodeError, encodeError } from './encode-error.ts'

function send(error: unknown): unknown {
  return decodeError(structuredClone(encodeError(error)))
}

describe('encodeError', () => {
  it('encodeError retains the code, the details and the cause of a TuttiError', () => {
    const cause = Object.assign(new Error('disk I/O error'), {
      code: 'ERR_SQLITE_ERROR',
      errcode: 10,
    })
    const options = { cause, retryable: true, details: { retryAfterMs: 5 } }
    const received = send(new TuttiError('STORE_UNAVAILABLE', 'away', options))
    expect(TuttiError.isInstance(received)).toBe(true)
    expect(received).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'away',
      retryable: true,
      details: { retryAfterMs: 5 },
      cause: { message: 'disk I/O error', code: 'ERR_SQLITE_ERROR', errcode: 10 },
    })
  })

  it('encodeError retains the class and the stack of an error', () => {
    const error = new RangeError('too large')
    const received = send(error)
    expect(received).toBeInstanceOf(RangeError)
    expect(received).toMatchObject({ message: 'too large', stack: error.stack })
  })

  it('encodeError retains a thrown value that is not an error', () => {
    expect(send('odd')).toBe('odd')
  })
})
