import { describe, expect, it } from 'vitest'

import { errorMessage, TuttiError } from './errors.ts'

describe('TuttiError', () => {
  it('has a code, a message, details, a cause and whether a retry can help', () => {
    const cause = new Error('socket hang up')
    const error = new TuttiError('MODEL_FAILED', 'Cannot reach the model', {
      cause,
      details: { provider: 'anthropic' },
      retryable: true,
    })
    expect(error).toMatchObject({
      name: 'TuttiError',
      code: 'MODEL_FAILED',
      message: 'Cannot reach the model',
      details: { provider: 'anthropic' },
      retryable: true,
    })
    expect(error.cause).toBe(cause)
    expect(error).toBeInstanceOf(Error)
  })

  it('is not retryable, and has no details or cause, by default', () => {
    const error = new TuttiError('CANCELLED', 'Stopped')
    expect(error.retryable).toBe(false)
    expect(error.details).toBeUndefined()
    expect('cause' in error).toBe(false)
  })

  it('does not expose its brand when it is serialized', () => {
    const error = new TuttiError('CANCELLED', 'Stopped')
    expect(Object.getOwnPropertySymbols({ ...error })).toEqual([])
  })
})

describe('TuttiError.isInstance', () => {
  it('recognizes its own errors and those of subclasses', () => {
    class Special extends TuttiError {}
    expect(TuttiError.isInstance(new TuttiError('CANCELLED', 'Stopped'))).toBe(true)
    expect(TuttiError.isInstance(new Special('CANCELLED', 'Stopped'))).toBe(true)
  })

  it('recognizes an error of another copy of this package', () => {
    const brand = Symbol.for('tutti.error')
    const error = Object.assign(new Error('No such run'), { code: 'RUN_NOT_FOUND', [brand]: true })
    expect(error).not.toBeInstanceOf(TuttiError)
    expect(TuttiError.isInstance(error)).toBe(true)
    expect(TuttiError.from(error, 'INTERNAL')).toBe(error)
  })

  it.each([
    [undefined],
    [null],
    ['CANCELLED'],
    [0],
    [{}],
    [{ code: 'CANCELLED' }],
    [new Error('x')],
  ])('rejects %o', (value) => {
    expect(TuttiError.isInstance(value)).toBe(false)
  })
})

describe('TuttiError.from', () => {
  it('returns a Tutti error unchanged, with its code', () => {
    const error = new TuttiError('CANCELLED', 'Stopped')
    expect(TuttiError.from(error, 'TASK_FAILED')).toBe(error)
  })

  it('wraps any other value as the cause', () => {
    const thrown = new RangeError('Too far')
    const error = TuttiError.from(thrown, 'TASK_FAILED')
    expect(error).toMatchObject({ code: 'TASK_FAILED', message: 'Too far', retryable: false })
    expect(error.cause).toBe(thrown)
    expect(TuttiError.from('plain words', 'TASK_FAILED')).toMatchObject({
      message: 'plain words',
      cause: 'plain words',
    })
  })
})

describe('errorMessage', () => {
  class Nameless extends Error {
    override name = ''
  }

  it.each([
    [new Error('Too far'), 'Too far'],
    [new TypeError(''), 'TypeError'],
    [new Nameless(''), 'Unknown error'],
    [new DOMException('Stopped', 'AbortError'), 'Stopped'],
    ['plain words', 'plain words'],
    ['', 'Unknown error'],
    [undefined, 'Unknown error'],
    [null, 'Unknown error'],
    [42, 'Unknown error'],
    [{ message: { no: 'text' } }, 'Unknown error'],
  ])('returns for %o the text %j, never an empty one', (value, text) => {
    expect(errorMessage(value)).toBe(text)
  })
})
