import { type } from 'arktype'
import Type from 'typebox'
import { describe, expect, expectTypeOf, it } from 'vitest'

import { createInputReader } from './input-reader.ts'
import { toStandardSchema } from './standard-schema.ts'

const Forecast = Type.Object({
  city: Type.String(),
  days: Type.Integer({ maximum: 7, default: 1 }),
  'a/b': Type.Optional(Type.Array(Type.Object({ n: Type.Integer() }))),
})

describe('toStandardSchema', () => {
  const { '~standard': standard } = toStandardSchema(Forecast)

  it('toStandardSchema returns its version and vendor', () => {
    expect(standard).toMatchObject({ version: 1, vendor: 'tutti' })
  })

  it('toStandardSchema validates with the rules of tool input', () => {
    expect(standard.validate({ city: 'Bonn', days: '3', z: 0 })).toEqual({
      value: { city: 'Bonn', days: 3 },
    })
    expect(standard.validate({ city: 'Bonn' })).toEqual({ value: { city: 'Bonn', days: 1 } })
  })

  it('toStandardSchema does not coerce when coercion is off', () => {
    const { validate } = toStandardSchema(Forecast, { coerce: false })['~standard']
    expect(validate({ city: 'Bonn', z: 0 })).toEqual({ value: { city: 'Bonn', days: 1 } })
    expect(validate({ city: 'Bonn', days: '3' })).toHaveProperty('issues')
  })

  it('toStandardSchema returns each problem as an issue, with the keys of its path', () => {
    expect(standard.validate({ days: 8, 'a/b': [{ n: 1 }, { n: 'x' }] })).toEqual({
      issues: [
        { message: 'is required', path: ['city'] },
        { message: 'must be <= 7, got 8', path: ['days'] },
        { message: 'must be an integer, got "x"', path: ['a/b', 1, 'n'] },
      ],
    })
    expect(standard.validate(5)).toEqual({ issues: [{ message: 'must be an object, got 5' }] })
  })

  it('toStandardSchema returns the original JSON Schema', () => {
    for (const target of ['draft-2020-12', 'draft-07', 'openapi-3.0']) {
      expect(standard.jsonSchema.input({ target })).toBe(Forecast)
      expect(standard.jsonSchema.output({ target })).toBe(Forecast)
    }
    expect(() => standard.jsonSchema.input({ target: 'draft-04' })).toThrow(TypeError)
  })

  it('toStandardSchema accepts schemas of any type and rejects unusable ones', () => {
    expect(toStandardSchema(Type.Integer())['~standard'].validate('5')).toEqual({ value: 5 })
    expect(() => toStandardSchema({ pattern: '(' })).toThrow(
      /^Cannot create Standard Schema: \/pattern must be a regular expression, got "\("/,
    )
  })

  it('toStandardSchema returns a schema for tools', () => {
    const reader = createInputReader(toStandardSchema(Forecast), { toolName: 'x' })
    expect(reader.jsonSchema).toBe(Forecast)
    expect(reader.read({ city: 'Bonn', days: '3' })).toEqual({
      ok: true,
      value: { city: 'Bonn', days: 3 },
    })
  })

  it('toStandardSchema works with a library that does not know Tutti', () => {
    const Request = type({ id: 'number', forecast: toStandardSchema(Forecast) })
    const read = Request({ id: 1, forecast: { city: 'Bonn', days: '3', z: 0 } })
    if (read instanceof type.errors) throw new Error(read.summary)
    expect(read).toEqual({ id: 1, forecast: { city: 'Bonn', days: 3 } })
    expectTypeOf(read.forecast.days).toBeNumber()
    const refused = Request({ id: 1, forecast: { days: 8 } })
    expect(refused instanceof type.errors && refused.summary).toBe(
      'forecast.city is required\nforecast.days must be <= 7, got 8',
    )
  })
})
