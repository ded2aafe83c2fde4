import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { problemsBy, readBy } from '../../test/read-by.ts'

import type { TSchema } from 'typebox'

const Point = Type.Object({ x: Type.Integer(), y: Type.Integer() })

/** Schema as text, because an object literal with `then` looks like a promise. */
const condition: TSchema = JSON.parse(`{
  "type": "object",
  "properties": { "kind": { "enum": ["a", "b"], "default": "a" }, "n": { "type": "integer" } },
  "if": { "properties": { "kind": { "const": "a" } }, "required": ["kind"] },
  "then": { "properties": { "first": { "type": "integer" } }, "required": ["first"] },
  "else": { "properties": { "second": { "type": "integer", "default": 2 } } }
}`)

describe('[CORE-M6] an unknown field', () => {
  it.each<[string, TSchema, unknown, unknown]>([
    ['of the input', Point, { x: 1, z: 0, y: 2 }, { x: 1, y: 2 }],
    ['of an object without fields', Type.Object({}), { z: 0 }, {}],
    [
      'of a nested object',
      Type.Object({ p: Point }),
      { p: { x: 1, y: 2, z: 0 } },
      { p: { x: 1, y: 2 } },
    ],
    [
      'of an item',
      Type.Array(Point),
      [
        { x: 1, y: 2 },
        { x: 3, y: 4, z: 0 },
      ],
      [
        { x: 1, y: 2 },
        { x: 3, y: 4 },
      ],
    ],
    ['of a tuple', Type.Tuple([Point]), [{ x: 1, y: 2, z: 0 }], [{ x: 1, y: 2 }]],
    [
      'of a value in a record',
      Type.Record(Type.String(), Point),
      { a: { x: 1, y: 2, z: 0 } },
      { a: { x: 1, y: 2 } },
    ],
    [
      'of an object that the author closed',
      Type.Object(
        { p: Type.Object({}, { additionalProperties: false }) },
        { additionalProperties: false },
      ),
      { z: 0, p: { z: 0 } },
      { p: {} },
    ],
    [
      'of an object that the author closed the other way',
      Type.Intersect([Point, Type.Object({ c: Type.String() })], { unevaluatedProperties: false }),
      { x: 1, y: 2, c: 'c', z: 0 },
      { x: 1, y: 2, c: 'c' },
    ],
    [
      'that no pattern has',
      { type: 'object', patternProperties: { '^x-': {} } },
      { 'x-a': 1, y: 2 },
      { 'x-a': 1 },
    ],
    [
      'behind references',
      { $defs: { P: Point }, properties: { p: { $ref: '#/$defs/P' } } },
      { p: { x: 1, y: 2, z: 0 } },
      { p: { x: 1, y: 2 } },
    ],
    [
      'of a recursive type',
      Type.Cyclic({ L: Type.Object({ next: Type.Optional(Type.Ref('L')) }) }, 'L'),
      { next: { next: { z: 0 }, z: 0 } },
      { next: { next: {} } },
    ],
  ])('An unknown field is dropped: %s', (_, schema, value, expected) => {
    for (const coerce of [true, false]) expect(readBy(schema, value, { coerce })).toEqual(expected)
  })

  it.each<[string, TSchema, unknown]>([
    ['in an object of nothing but its type', { type: 'object' }, { z: 0 }],
    ['in a record', Type.Record(Type.String(), Type.Integer()), { z: 0, __: 1 }],
    ['of an open object', Type.Object({}, { additionalProperties: true }), { z: { y: 1 } }],
    [
      'of an object with a type for the rest',
      Type.Object({}, { additionalProperties: Type.Integer() }),
      { z: 0 },
    ],
    ['that is required only', { type: 'object', properties: {}, required: ['z'] }, { z: 0 }],
    ['in anything', Type.Object({ a: Type.Unknown() }), { a: { z: [{ y: 0 }] } }],
    ['with no schema for its items', Type.Object({ a: { type: 'array' } }), { a: [{ z: 0 }] }],
  ])('An unknown field is not dropped: %s', (_, schema, value) => {
    expect(readBy(schema, value)).toBe(value)
  })

  it('An unknown field is a field that no part of an intersection declares, at any depth', () => {
    const schema = Type.Intersect([
      Type.Object({ a: Type.Object({ b: Type.Integer() }) }),
      Type.Object({ a: Type.Object({ c: Type.Integer() }), d: Type.Integer() }),
    ])
    expect(readBy(schema, { a: { b: 1, c: 2, z: 0 }, d: 3, z: 0 })).toEqual({
      a: { b: 1, c: 2 },
      d: 3,
    })
  })

  it('A field that one part of an intersection declares and another rejects is not unknown, because the schema contradicts itself', () => {
    const closed = Type.Object({ a: Type.Integer() }, { additionalProperties: false })
    const schema = Type.Intersect([closed, Type.Object({ b: Type.Optional(Type.Integer()) })])
    expect(readBy(schema, { a: 1, z: 0 })).toEqual({ a: 1 })
    expect(problemsBy(schema, { a: 1, b: 2, z: 0 })).toEqual([
      '/b is not a known field; did you mean "a"?',
    ])
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString'])(
    'An unknown field named %s is dropped, or kept, like any other',
    (key) => {
      const value = JSON.parse(`{"x":1,"y":2,"${key}":{"polluted":true}}`)
      expect(readBy(Point, value)).toEqual({ x: 1, y: 2 })
      const open = Type.Object(
        { ...Point.properties, z: Type.Integer({ default: 3 }) },
        { additionalProperties: true },
      )
      const kept = readBy(open, value) as object
      expect(Object.hasOwn(kept, key)).toBe(true)
      expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
      expect(kept).not.toHaveProperty('polluted')
    },
  )
})

describe('[CORE-M2] a default', () => {
  const schema = Type.Object({
    n: Type.Optional(Type.Integer({ default: 1 })),
    list: Type.Array(Type.String(), { default: ['a'] }),
    p: Type.Optional(Type.Object({ q: Type.String({ default: 'q' }) })),
    or: Type.Optional(Type.Union([Type.String(), Type.Null()], { default: 'x' })),
  })

  it('A schema default is filled in for a missing field, required or not, at any depth', () => {
    for (const coerce of [true, false]) {
      expect(readBy(schema, { p: {} }, { coerce })).toEqual({
        n: 1,
        list: ['a'],
        p: { q: 'q' },
        or: 'x',
      })
      expect(readBy(schema, {}, { coerce })).toEqual({ n: 1, list: ['a'], or: 'x' })
    }
  })

  it('A schema default replaces null only where null is invalid', () => {
    const value = { n: null, list: null, or: null }
    expect(readBy(schema, value, { coerce: false })).toEqual({ n: 1, list: ['a'], or: null })
  })

  it('A schema default replaces null where the type allows it but another keyword does not', () => {
    const properties = { a: { type: ['string', 'null'], enum: ['x', 'y'], default: 'x' } }
    expect(readBy({ type: 'object', properties }, { a: null })).toEqual({ a: 'x' })
  })

  it('A schema default replaces undefined', () => {
    expect(readBy(schema, { n: undefined, list: ['b'], or: null })).toEqual({
      n: 1,
      list: ['b'],
      or: null,
    })
  })

  it('A schema default does not replace a given value, even an empty or invalid one', () => {
    expect(readBy(schema, { n: 0, list: [], or: '' })).toEqual({ n: 0, list: [], or: '' })
    expect(problemsBy(schema, { n: 'x' })).toEqual(['/n must be an integer, got "x"'])
  })

  it('A schema default is a fresh copy each time', () => {
    const [first, second] = [readBy(schema, {}), readBy(schema, {})] as { list: string[] }[]
    expect(first?.list).not.toBe(second?.list)
    first?.list.push('b')
    expect(readBy(schema, {})).toMatchObject({ list: ['a'] })
    expect(schema.properties.list).toMatchObject({ default: ['a'] })
  })

  it('A schema default is filled in inside items, record values, tuples and references', () => {
    const Item = Type.Object({ n: Type.Integer({ default: 1 }) })
    expect(readBy(Type.Array(Item), [{}, { n: 2 }])).toEqual([{ n: 1 }, { n: 2 }])
    expect(readBy(Type.Record(Type.String(), Item), { a: {} })).toEqual({ a: { n: 1 } })
    expect(readBy(Type.Tuple([Item]), [{}])).toEqual([{ n: 1 }])
    const referring = {
      $defs: { N: { type: 'integer', default: 4 } },
      properties: { a: { $ref: '#/$defs/N' } },
    }
    expect(readBy({ ...referring, required: ['a'] }, {})).toEqual({ a: 4 })
  })

  it('A schema default of a reference takes precedence over that of its target', () => {
    const properties = { a: { $ref: '#/$defs/N', default: 5 } }
    expect(readBy({ $defs: { N: { type: 'integer', default: 4 } }, properties }, {})).toEqual({
      a: 5,
    })
  })

  it('A schema default has its nested defaults filled in', () => {
    const nested = Type.Object({
      p: Type.Object({ n: Type.Integer({ default: 1 }) }, { default: {} }),
    })
    expect(readBy(nested, {})).toEqual({ p: { n: 1 } })
  })

  it('A schema default is not taken from a union member of a field', () => {
    const either = { anyOf: [{ type: 'string', default: 'x' }, { type: 'null' }] }
    expect(readBy({ type: 'object', properties: { a: either } }, {})).toEqual({})
  })

  it('A schema default is filled in for the fields of every part of an intersection', () => {
    const both = Type.Intersect([
      Type.Object({ a: Type.Integer({ default: 1 }) }),
      Type.Object({ b: Type.Integer({ default: 2 }) }),
    ])
    expect(readBy(both, {})).toEqual({ a: 1, b: 2 })
  })

  it('A schema default is filled in for a field with the name of an inherited property', () => {
    const properties = JSON.parse('{"__proto__":{"default":1},"toString":{"default":2}}')
    const value = readBy({ type: 'object', properties }, {}) as object
    expect(Object.entries(value)).toEqual([
      ['__proto__', 1],
      ['toString', 2],
    ])
  })
})

describe('[CORE-M3] null', () => {
  const schema = Type.Object({
    a: Type.Optional(Type.String()),
    b: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    c: Type.Optional(Type.Object({ d: Type.Optional(Type.Integer()) })),
    any: Type.Optional(Type.Unknown()),
  })

  it('A null counts as absent for an optional field where null is invalid', () => {
    expect(readBy(schema, { a: null, b: null, c: { d: null }, any: null })).toEqual({
      b: null,
      c: {},
      any: null,
    })
  })

  it('A null is a problem for a required field, and without coercion for every field', () => {
    expect(problemsBy(Type.Object({ a: Type.String() }), { a: null })).toEqual([
      '/a must be a string, got null',
    ])
    expect(problemsBy(schema, { a: null }, { coerce: false })).toEqual([
      '/a must be a string, got null',
    ])
  })

  it('A null does not count as absent for an item or the whole value', () => {
    expect(problemsBy(Type.Array(Type.String()), [null])).toEqual(['/0 must be a string, got null'])
    expect(problemsBy(schema, null)).toEqual(['must be an object, got null'])
  })

  it('A null is valid for a required constant', () => {
    const value = { a: null }
    expect(readBy(Type.Object({ a: Type.Optional({ const: null }) }), value)).toBe(value)
  })
})

describe('a condition', () => {
  it('A schema condition sees the fields with defaults and coerced values', () => {
    expect(readBy(condition, { first: '1', second: 9 })).toEqual({ kind: 'a', first: 1 })
    expect(readBy(condition, { kind: 'b', first: 1, z: 0 })).toEqual({ kind: 'b', second: 2 })
    expect(problemsBy(condition, { kind: 'a', n: '3' })).toEqual(['/first is required'])
  })

  it('A schema condition that holds declares the fields of its branch', () => {
    const schema = JSON.parse(`{
      "type": "object",
      "properties": {},
      "if": { "properties": { "kind": { "const": "a" } } },
      "then": { "properties": { "n": { "type": "integer" } } }
    }`)
    expect(readBy(schema, { kind: 'a', n: '1', z: 0 })).toEqual({ kind: 'a', n: 1 })
    expect(readBy(schema, { kind: 'b', n: 1 })).toEqual({})
  })

  it('A schema condition on a present field adds its dependent schemas', () => {
    const schema = {
      type: 'object',
      properties: { card: { type: 'string' } },
      dependentSchemas: {
        card: {
          properties: { code: { type: 'integer' }, ok: { default: true } },
          required: ['code'],
        },
      },
    }
    expect(readBy(schema, { card: 'x', code: '1', z: 0 })).toEqual({ card: 'x', code: 1, ok: true })
    expect(readBy(schema, { code: '1' })).toEqual({})
    expect(problemsBy(schema, { card: 'x' })).toEqual(['/code is required'])
  })
})

describe('a field whose schema is resolved only during validation', () => {
  it('A field whose schema is resolved only during validation is left unchanged', () => {
    const schema = {
      $dynamicAnchor: 'node',
      properties: { a: { $dynamicRef: '#node', properties: { n: {} } } },
    }
    const value = { a: { a: {}, z: 0 } }
    expect(readBy({ type: 'object', ...schema }, value)).toEqual(value)
  })
})
