import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { createInputReader, createOutputReader } from './input-reader.ts'

const Forecast = Type.Object({
  city: Type.String({ minLength: 1 }),
  days: Type.Integer({ default: 3 }),
})

describe('createInputReader', () => {
  it('createInputReader exposes the author’s schema unchanged', () => {
    const before = JSON.stringify(Forecast)
    const reader = createInputReader(Forecast, { toolName: 'x' })
    expect(reader.read({ city: 'Bonn', z: 0 })).toEqual({
      ok: true,
      value: { city: 'Bonn', days: 3 },
    })
    expect(reader.jsonSchema).toBe(Forecast)
    expect(JSON.stringify(Forecast)).toBe(before)
  })

  it('createInputReader coerces values unless coercion is off', () => {
    const value = { city: 'Bonn', days: '3' }
    expect(createInputReader(Forecast, { toolName: 'x' }).read(value)).toEqual({
      ok: true,
      value: { city: 'Bonn', days: 3 },
    })
    expect(createInputReader(Forecast, { toolName: 'x', coerce: false }).read(value)).toMatchObject(
      {
        ok: false,
      },
    )
  })

  it('createInputReader takes JSON text of the whole input', () => {
    const reader = createInputReader(Forecast, { toolName: 'x' })
    expect(reader.read('{"city":"Bonn","days":"4"}')).toEqual({
      ok: true,
      value: { city: 'Bonn', days: 4 },
    })
    expect(reader.read('Bonn')).toMatchObject({
      problems: [{ message: 'must be an object, got "Bonn"' }],
    })
  })

  it('createInputReader takes a plain JSON Schema', () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
    } as const
    expect(createInputReader(schema, { toolName: 'x' }).read({ n: '1', z: 0 })).toEqual({
      ok: true,
      value: { n: 1 },
    })
  })
})

describe('createOutputReader', () => {
  it('createOutputReader only validates, without coercion, defaults or dropped fields', () => {
    const reader = createOutputReader(Forecast, { toolName: 'x' })
    const value = { city: 'Bonn', days: 1, z: 0 }
    const decoded = reader.read(value)
    expect(decoded).toEqual({ ok: true, value })
    expect(reader.read({ city: 'Bonn', days: '1' })).toMatchObject({ ok: false })
    expect(reader.read({ city: 'Bonn' })).toMatchObject({ problems: [{ path: '/days' }] })
  })
})
