import { describe, expect, it } from 'vitest'

import { errorMessage, MAX_ERROR_MESSAGE_LENGTH, TuttiError } from './errors.ts'

describe('TuttiError', () => {
  it('TuttiError has a code, a message, details, a cause and whether a retry can help', () => {
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

  it('TuttiError is not retryable, and has no details or cause, by default', () => {
    const error = new TuttiError('CANCELLED', 'Stopped')
    expect(error.retryable).toBe(false)
    expect(error.details).toBeUndefined()
    expect('cause' in error).toBe(false)
  })

  it('TuttiError does not expose its brand when it is serialized', () => {
    const error = new TuttiError('CANCELLED', 'Stopped')
    expect(Object.getOwnPropertySymbols({ ...error })).toEqual([])
  })
})

describe('TuttiError.isInstance', () => {
  it('TuttiError.isInstance recognizes its own errors and those of subclasses', () => {
    class Special extends TuttiError {}
    expect(TuttiError.isInstance(new TuttiError('CANCELLED', 'Stopped'))).toBe(true)
    expect(TuttiError.isInstance(new Special('CANCELLED', 'Stopped'))).toBe(true)
  })

  it('TuttiError.isInstance recognizes an error of another copy of this package', () => {
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
  ])('TuttiError.isInstance rejects %o', (value) => {
    expect(TuttiError.isInstance(value)).toBe(false)
  })
})

describe('TuttiError.from', () => {
  it('TuttiError.from returns a Tutti error unchanged, with its code', () => {
    const error = new TuttiError('CANCELLED', 'Stopped')
    expect(TuttiError.from(error, 'TASK_FAILED')).toBe(error)
  })

  it('TuttiError.from wraps any other value as the cause', () => {
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
  const hostile = (key: string): Error =>
    Object.defineProperty(new Error('x'), key, {
      get() {
        throw new Error('no')
      },
    })
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:1')

  it.each<[unknown, string]>([
    [new Error('Too far'), 'Too far'],
    [new TypeError(''), 'TypeError'],
    [new Nameless(''), 'Unknown error'],
    [new DOMException('Stopped', 'AbortError'), 'Stopped'],
    ['plain words', 'plain words'],
    ['', 'Unknown error'],
    [undefined, 'Unknown error'],
    [null, 'Unknown error'],
    [42, '42'],
    [5n, '5'],
    [Symbol('stop'), 'Symbol(stop)'],
    [() => 1, 'Unknown error'],
    [{}, 'Unknown error'],
    [[], 'Unknown error'],
    [Object.create(null), 'Unknown error'],
  ])('errorMessage returns for %o the text %j, never an empty one', (value, text) => {
    expect(errorMessage(value)).toBe(text)
  })

  it.each<[unknown, string]>([
    [{ message: 'duplicate key value', code: '23505' }, 'duplicate key value (23505)'],
    [{ message: 'read ECONNRESET', code: 'ECONNRESET' }, 'read ECONNRESET'],
    [{ message: 'Not found', status: 404 }, 'Not found (404)'],
    [{ error: { message: 'Quota exceeded' }, code: 429 }, 'Quota exceeded (429)'],
    [{ error: 'invalid_grant' }, 'invalid_grant'],
    [{ code: 'E_FULL' }, 'Error E_FULL'],
    [new Response(null, { status: 503 }), 'Response 503'],
    [{ message: { no: 'text' } }, '{"message":{"no":"text"}}'],
    [{ message: 'Failed', cause: refused }, 'Failed: connect ECONNREFUSED 127.0.0.1:1'],
  ])(
    'errorMessage returns the message and the code of an object that is not an error (%#)',
    (value, text) => {
      expect(errorMessage(value)).toBe(text)
    },
  )

  it.each<[unknown, string]>([
    [
      new TypeError('fetch failed', { cause: refused }),
      'fetch failed: connect ECONNREFUSED 127.0.0.1:1',
    ],
    [
      new Error('Failed query.', { cause: { message: 'deadlock', code: '40P01' } }),
      'Failed query: deadlock (40P01)',
    ],
    [new Error('a', { cause: new Error('b', { cause: 'c' }) }), 'a: b: c'],
    [
      new Error('Cannot save: disk full', { cause: new Error('disk full') }),
      'Cannot save: disk full',
    ],
    [new Error('', { cause: new Error('inner') }), 'Error: inner'],
    [new AggregateError([new Error('a'), new Error('b')]), 'AggregateError: a; b'],
    [
      new AggregateError([new Error('a'), 'b', undefined], 'All failed'),
      'All failed: a; b; Unknown error',
    ],
    [new AggregateError([], 'None'), 'None'],
    [
      new AggregateError(
        Array.from({ length: 12 }, (_, index) => new Error(`e${index}`)),
        'Many',
      ),
      'Many: e0; e1; e2; e3; e4; e5; e6; e7; e8; e9; 2 more',
    ],
    [
      new Error('Outer', { cause: new AggregateError([refused, refused], '') }),
      `Outer: AggregateError: ${refused.message}`,
    ],
  ])('errorMessage appends causes and the errors of an aggregate (%#)', (value, text) => {
    expect(errorMessage(value)).toBe(text)
  })

  it('errorMessage adds nothing to the message of a Tutti error, which is complete', () => {
    const cause = new Error('connect ECONNREFUSED 10.0.0.7:5432')
    expect(errorMessage(new TuttiError('INTERNAL', 'Cannot open the store', { cause }))).toBe(
      'Cannot open the store',
    )
  })

  it('errorMessage ends for errors that are their own causes or parts', () => {
    const first = new Error('first')
    const second = new Error('second', { cause: first })
    first.cause = second
    expect(errorMessage(first)).toBe('first: second')
    const all = new AggregateError([], 'all')
    all.errors.push(all, all)
    expect(errorMessage(all)).toBe('all: Unknown error')
  })

  it('errorMessage says that errors of an aggregate are left out because they are nested too deeply', () => {
    let nested: Error = new AggregateError([new Error('a'), new Error('b')], 'e0')
    for (let index = 1; index <= 8; index += 1) nested = new Error(`e${index}`, { cause: nested })
    expect(errorMessage(nested)).toBe(
      'e8: e7: e6: e5: e4: e3: e2: e1: e0: errors nested more than 8 levels deep are left out',
    )
  })

  it('errorMessage ends for a long chain, a wide aggregate and a long message', () => {
    let chain = new Error('e0')
    for (let index = 1; index < 10_000; index += 1) chain = new Error(`e${index}`, { cause: chain })
    expect(errorMessage(chain)).toMatch(
      /^e9999: e9998: .*e9991: errors nested more than 8 levels deep are left out$/,
    )
    let wide = new AggregateError([], 'd0')
    for (let index = 1; index < 9; index += 1) {
      wide = new AggregateError(Array.from({ length: 10 }).fill(wide), `d${index}`)
    }
    expect(errorMessage(wide)).toContain('d8: d7: d6')
    expect(errorMessage(wide)).toContain('errors after the first 100 are left out')
    expect(errorMessage(wide)).not.toContain('Unknown error')
    const long = errorMessage(new Error(`${'x'.repeat(MAX_ERROR_MESSAGE_LENGTH - 2)}😀 and more`))
    expect(long).toBe(`${'x'.repeat(MAX_ERROR_MESSAGE_LENGTH - 2)}…`)
  })

  it.each(['message', 'cause', 'name', 'errors', 'code'])(
    'errorMessage survives a getter of %s that throws',
    (key) => {
      expect(errorMessage(hostile(key))).toBe(key === 'message' ? 'Error' : 'x')
    },
  )

  it('errorMessage survives values that throw for every question', () => {
    const refuse = (): never => {
      throw new Error('no')
    }
    const proxy = new Proxy(
      {},
      { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse },
    )
    expect(errorMessage(proxy)).toBe('Unknown error')
    expect(TuttiError.from(proxy, 'INTERNAL').message).toBe('Unknown error')
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(errorMessage(revoked)).toBe('Unknown error')
  })
})
