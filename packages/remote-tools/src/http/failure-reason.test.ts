import { TuttiError } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { failureReason, mayPass } from './failure-reason.ts'

const ORIGIN = 'https://a.test'

function coded(code: string, message = 'low-level words'): Error {
  return Object.assign(new Error(message), { code })
}

describe('why there was no answer', () => {
  it.each([
    [coded('ECONNREFUSED'), 'the connection was refused (https://a.test)'],
    [new TypeError('fetch failed', { cause: coded('ENOTFOUND') }), 'the host was not found'],
    [new AggregateError([coded('ECONNREFUSED'), coded('x')], ''), 'the connection was refused'],
    [
      new Error('outer', {
        cause: new AggregateError([new Error('in', { cause: coded('EPIPE') })]),
      }),
      'the connection was closed',
    ],
    [coded('OTHER', 'something else'), 'something else (https://a.test)'],
    ['thrown text', 'thrown text (https://a.test)'],
  ])('is its real cause', (error, expected) => {
    expect(failureReason(error, ORIGIN)).toContain(expected)
  })

  it('is what a guard says, in its own words', () => {
    const refusal = new TuttiError('TOOL_FAILED', 'Refused to connect to "b.test"')
    expect(failureReason(new Error('connect', { cause: refusal }), ORIGIN)).toBe(refusal.message)
  })

  it('is found also where causes go round', () => {
    const error = new Error('round')
    error.cause = error
    expect(failureReason(error, ORIGIN)).toBe('round (https://a.test)')
  })
})

describe('the same request', () => {
  it.each([coded('ECONNRESET'), coded('UND_ERR_SOCKET'), new Error('unknown')])(
    'may get an answer later',
    (error) => {
      expect(mayPass(error)).toBe(true)
    },
  )

  it.each([
    new TuttiError('TOOL_FAILED', 'Refused'),
    new Error('connect', { cause: new TuttiError('TOOL_FAILED', 'Refused') }),
    new RangeError('unknown coding'),
    coded('UND_ERR_INVALID_ARG'),
  ])('gets none, however often it is made', (error) => {
    expect(mayPass(error)).toBe(false)
  })
})
