import { describe, expect, it } from 'vitest'

import { classifyError, unavailable } from './connection-errors.ts'

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code })

describe('classifyError', () => {
  it.for([
    '08006',
    '57P01',
    '57P02',
    '57P03',
    '53300',
    '28P01',
    '3D000',
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
  ])('%s means that the database cannot be reached', (code) => {
    expect(classifyError(coded(code))).toBe('lost')
  })

  it.for([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ])('The message "%s" means that the database cannot be reached', (message) => {
    expect(classifyError(new Error(message))).toBe('lost')
  })

  it.for(['55P03', '57014', '53100', '25006', '25P03'])(
    '%s means that the database is busy',
    (code) => {
      expect(classifyError(coded(code))).toBe('busy')
    },
  )

  it('An exhausted pool means that the database is busy', () => {
    expect(classifyError(new Error('timeout exceeded when trying to connect'))).toBe('busy')
  })

  it('A statement that was prepared before a change of the tables is stale', () => {
    const error = coded('0A000', 'cached plan must not change result type')
    expect(classifyError(error)).toBe('stale')
    expect(classifyError(coded('0A000'))).toBe('none')
  })

  it.for(['40P01', '40001'])('%s is a collision', (code) => {
    expect(classifyError(coded(code))).toBe('collision')
  })

  it.for([
    coded('23505'),
    coded('22021'),
    coded('42P01'),
    new Error('x'),
    undefined,
    'text',
    { code: 7 },
  ])('%s is an error of the statement', (error) => {
    expect(classifyError(error)).toBe('none')
  })
})

describe('unavailable', () => {
  const url = 'postgres://me:s3%40cret@db.example:6543/runs'

  it('The error of an unavailable database names host, port, database and reason, and is retryable', () => {
    const error = unavailable(coded('57P01', 'terminating connection'), url)
    expect(error.message).toBe(
      'Cannot use the run store in Postgres at db.example:6543/runs: terminating connection',
    )
    expect([error.code, error.retryable]).toEqual(['STORE_UNAVAILABLE', true])
  })

  it('The error of an unavailable database never contains the password, plain or URL-encoded', () => {
    const { message, cause } = unavailable(new Error('s3@cret or s3%40cret'), url)
    expect(message).not.toMatch(/cret/)
    expect(cause).toBeUndefined()
  })

  it('The error of an unavailable database names all tried addresses', () => {
    const error = new AggregateError([new Error('no ::1'), new Error('no 127.0.0.1')])
    expect(unavailable(error, 'postgres://h/d').message).toBe(
      'Cannot use the run store in Postgres at h:5432/d: no ::1, no 127.0.0.1',
    )
  })
})
