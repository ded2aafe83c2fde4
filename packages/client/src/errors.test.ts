import { ERROR_CODES } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { LOCAL_ERROR_CODES, TuttiClientError } from './errors.ts'

describe('TuttiClientError', () => {
  it('TuttiClientError reports by its code whether a retry can succeed', () => {
    expect(new TuttiClientError('RUN_NOT_FOUND', 'x').retryable).toBe(false)
    expect(new TuttiClientError('CONCURRENCY_LIMIT', 'x').retryable).toBe(true)
    expect(new TuttiClientError('TIMED_OUT', 'x').retryable).toBe(true)
    expect(new TuttiClientError('ABORTED', 'x').retryable).toBe(false)
    expect(new TuttiClientError('BAD_RESPONSE', 'x', { retryable: true }).retryable).toBe(true)
  })

  it('TuttiClientError is an Error with a name and a cause', () => {
    const cause = new Error('why')
    const error = new TuttiClientError('CONNECTION_FAILED', 'Cannot reach it', { cause })
    expect(error).toBeInstanceOf(Error)
    expect(String(error)).toBe('TuttiClientError: Cannot reach it')
    expect(error.cause).toBe(cause)
    expect(new TuttiClientError('CONNECTION_FAILED', 'x')).not.toHaveProperty('cause')
  })

  it('TuttiClientError recognizes errors of another copy of the package, and nothing else', () => {
    const foreign = Object.assign(new Error('x'), { [Symbol.for('tutti.client-error')]: true })
    expect(TuttiClientError.isInstance(foreign)).toBe(true)
    expect(TuttiClientError.isInstance(new TuttiClientError('ABORTED', 'x'))).toBe(true)
    for (const other of [new Error('x'), {}, null, undefined, 'ABORTED']) {
      expect(TuttiClientError.isInstance(other)).toBe(false)
    }
  })

  it('TuttiClientError has no client code that the server uses too', () => {
    expect(
      Object.keys(LOCAL_ERROR_CODES).filter((code) => Object.hasOwn(ERROR_CODES, code)),
    ).toEqual([])
  })
})
