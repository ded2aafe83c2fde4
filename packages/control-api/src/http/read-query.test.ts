import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { readQuery } from './read-query.ts'

const QUERY = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  from: Type.Optional(Type.Integer()),
})

const read = (query: string): unknown => readQuery(`http://localhost/api/runs?${query}`, QUERY)

describe('an integer in a query', () => {
  it('An integer in a query is read as a number', () => {
    expect(read('limit=7')).toEqual({ limit: 7 })
    expect(read(`from=-${Number.MAX_SAFE_INTEGER}`)).toEqual({ from: Number.MIN_SAFE_INTEGER })
  })

  it.each(['501', '9'.repeat(16), '9'.repeat(400)])(
    'An integer in a query above the maximum is refused with it: %s',
    (limit) => {
      expect(() => read(`limit=${limit}`)).toThrow(/\/limit must be <= 500, got /)
    },
  )

  it('An integer in a query below the minimum is refused with it', () => {
    expect(() => read(`limit=-${'9'.repeat(20)}`)).toThrow(/\/limit must be >= 1, got /)
  })

  it('An integer in a query without an exact form is refused where no limit excludes it', () => {
    expect(() => read('from=9007199254740993')).toThrow(
      '/from must be an integer, got "9007199254740993"',
    )
  })

  it.each(['1.5', '0x10', '', '7 ', 'ten'])('An integer in a query must be one: %j', (limit) => {
    expect(() => read(`limit=${encodeURIComponent(limit)}`)).toThrow(
      '/limit must be an integer, got ',
    )
  })
})
