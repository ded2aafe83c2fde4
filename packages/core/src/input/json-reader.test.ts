import Type from 'typebox'
import { Settings } from 'typebox/system'
import { afterEach, describe, expect, it } from 'vitest'

import { problemsBy, readBy } from '../../test/read-by.ts'
import { createInputReader } from './input-reader.ts'

import type { TSchema } from 'typebox'

describe('[CORE-J1] a returned value', () => {
  it('A returned value matches the schema as the author wrote it, with its closed objects', () => {
    const schema = Type.Object(
      { a: Type.Integer() },
      { additionalProperties: false, maxProperties: 1 },
    )
    expect(readBy(schema, { a: '1', z: 0 })).toEqual({ a: 1 })
  })

  it('A returned value is not returned when only its separately coerced parts would match', () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      not: { required: ['n'] },
    }
    expect(problemsBy(schema, { n: '1' })).not.toEqual([])
    const unique = Type.Array(Type.Integer(), { uniqueItems: true })
    expect(problemsBy(unique, ['1', 1])).not.toEqual([])
  })
})

describe('[CORE-J2] a valid value', () => {
  it.each<[string, TSchema, unknown]>([
    [
      'only with its unknown fields',
      Type.Object({ a: Type.Integer() }, { minProperties: 2 }),
      { a: 1, z: 0 },
    ],
    [
      'only without a default',
      JSON.parse('{"type":"object","properties":{"a":{"default":1}},"not":{"required":["a"]}}'),
      { z: 0 },
    ],
    [
      'a condition on an unknown field',
      { type: 'object', properties: {}, dependentRequired: { a: ['b'] }, minProperties: 1 },
      { a: 1, b: 2 },
    ],
  ])('A valid value is returned with all its fields: %s', (_, schema, value) => {
    expect(readBy(schema, value)).toBe(value)
  })
})

describe('[CORE-J3] a value without changes', () => {
  it.each<[string, TSchema, unknown]>([
    [
      'of plain fields',
      Type.Object({ a: Type.Integer(), b: Type.Optional(Type.String()) }),
      { a: 1 },
    ],
    [
      'of a type that is read the long way',
      { type: 'object', properties: { a: {} }, if: {} },
      { a: { b: [1] } },
    ],
    ['of any type', {}, { a: { b: [1] } }],
    ['of a scalar type', Type.Integer(), 5],
  ])('A value without changes is returned itself: %s', (_, schema, value) => {
    expect(readBy(schema, value)).toBe(value)
  })
})

describe('[CORE-J4] reading does not throw', () => {
  const reader = createInputReader(Type.Object({ a: Type.Integer(), b: Type.Unknown() }), {
    toolName: 'x',
  })

  it.each([
    undefined,
    null,
    2n ** 64n + 1n,
    Symbol('s'),
    Number.NaN,
    () => 1,
    new Date(0),
    new Map(),
    /x/,
    [],
    '',
    '{',
  ])('A reader does not throw for %s', (value) => {
    expect(reader.read(value)).toMatchObject({ ok: false })
    expect(reader.read({ a: value, b: value })).toMatchObject({ ok: false })
  })

  it('A reader does not throw for a value with throwing getters', () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('no')
        },
      },
    )
    expect(reader.read(hostile)).toEqual({
      ok: false,
      problems: [{ path: '', message: 'cannot be checked: no' }],
    })
    const getter = {
      get a(): never {
        throw new Error('no getter')
      },
    }
    expect(reader.read(getter)).toMatchObject({
      problems: [{ message: 'cannot be checked: no getter' }],
    })
  })

  it('A reader does not throw for a refinement that throws', () => {
    const schema = Type.Object({
      a: Type.Refine(
        Type.Integer(),
        () => {
          throw new Error('no opinion')
        },
        () => 'x',
      ),
    })
    expect(createInputReader(schema, { toolName: 'x' }).read({ a: 1 })).toEqual({
      ok: false,
      problems: [{ path: '', message: 'cannot be checked: no opinion' }],
    })
  })
})

describe('reading without generated code', () => {
  afterEach(() => {
    Settings.Reset()
  })

  it('A reader without generated code has the same results', () => {
    Settings.Set({ useAcceleration: false })
    const schema = Type.Object({
      n: Type.Integer({ minimum: 1, default: 2 }),
      shape: Type.Union([
        Type.Object({ kind: Type.Literal('a'), r: Type.Number() }),
        Type.Object({ s: Type.Boolean() }),
      ]),
      code: Type.Optional(Type.String({ pattern: '^x', format: 'email' })),
    })
    const value = { n: 1, shape: { s: true } }
    expect(readBy(schema, value)).toBe(value)
    expect(readBy(schema, { shape: { s: 'true', z: 0 }, z: 0 })).toEqual({
      n: 2,
      shape: { s: true },
    })
    expect(problemsBy(schema, { n: 0, shape: { s: true } })).toEqual(['/n must be >= 1, got 0'])
  })
})
