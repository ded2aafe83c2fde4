import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { problemsBy, readBy } from '../../test/read-by.ts'

import type { TSchema } from 'typebox'

const Circle = Type.Object({ kind: Type.Literal('circle'), radius: Type.Number() })
const Square = Type.Object({ kind: Type.Literal('square'), side: Type.Number({ default: 1 }) })

describe('[CORE-U1] a union whose members differ in a fixed field', () => {
  const unions: readonly [string, TSchema][] = [
    ['anyOf', { anyOf: [Circle, Square] }],
    ['oneOf', { oneOf: [Circle, Square] }],
    [
      'references',
      {
        $defs: { Circle, Square },
        anyOf: [{ $ref: '#/$defs/Circle' }, { $ref: '#/$defs/Square' }],
      },
    ],
  ]

  it.each(unions)(
    'A union whose members differ in a fixed field reads a value as the member that it names (%s)',
    (_, shape) => {
      expect(readBy(shape, { kind: 'circle', radius: '2', side: 3 })).toEqual({
        kind: 'circle',
        radius: 2,
      })
      expect(readBy(shape, { kind: 'square', radius: 2 })).toEqual({ kind: 'square', side: 1 })
    },
  )

  it.each(unions)(
    'A union whose members differ in a fixed field reports the problems of that member only (%s)',
    (_, shape) => {
      expect(problemsBy(shape, { kind: 'circle', side: 'x' })).toEqual(['/radius is required'])
      expect(problemsBy(shape, { kind: 'square', side: 'x' })).toEqual([
        '/side must be a number, got "x"',
      ])
    },
  )

  it('A union whose members differ in a fixed field is resolved separately in each document that contains it', () => {
    const shared = { anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }] }
    const first = { $defs: { A: Circle, B: Square }, allOf: [shared] }
    const second = { $defs: { A: Square, B: Circle }, allOf: [shared] }
    for (const schema of [first, second]) {
      expect(readBy(schema, { kind: 'circle', radius: '2', z: 0 })).toEqual({
        kind: 'circle',
        radius: 2,
      })
    }
  })

  it('A union whose members differ in a fixed field leaves a value that names no member unchanged, so that its problem is reported', () => {
    expect(problemsBy(Type.Union([Circle, Square]), { kind: 'star', side: '1' })).toEqual([
      '/kind must be one of "circle", "square", got "star"',
    ])
  })

  it('A union whose members differ in a fixed field coerces the text of a numeric or boolean tag, only with coercion', () => {
    const result = Type.Union([
      Type.Object({ ok: Type.Literal(true), n: Type.Integer() }),
      Type.Object({ ok: Type.Literal(false), why: Type.String() }),
    ])
    expect(readBy(result, { ok: 'true', n: '1', why: 'x' })).toEqual({ ok: true, n: 1 })
    expect(problemsBy(result, { ok: 'true', n: 1 }, { coerce: false })).toEqual([
      '/ok must be one of true, false, got "true"',
    ])
  })

  it('A union whose members differ in a fixed field uses the default of a missing tag', () => {
    const shape = Type.Union([
      Circle,
      Type.Object({ kind: Type.Literal('square', { default: 'square' }), side: Type.Number() }),
    ])
    expect(readBy(shape, { side: 2 })).toEqual({ kind: 'square', side: 2 })
    expect(problemsBy(shape, { side: 'x' })).toEqual(['/side must be a number, got "x"'])
  })

  it('A union whose members differ in a fixed field ignores an inherited tag', () => {
    expect(
      problemsBy(Type.Union([Circle, Square]), Object.create({ kind: 'circle' })),
    ).toHaveLength(1)
  })
})

describe('[CORE-U2] a union without such a field', () => {
  const Text = Type.Object({ v: Type.String() })
  const Whole = Type.Object({ v: Type.Integer() })

  it('A union without a fixed field prefers the member that the value matches unchanged, at any position', () => {
    for (const union of [Type.Union([Text, Whole]), Type.Union([Whole, Text])]) {
      expect(readBy(union, { v: '5', z: 0 })).toEqual({ v: '5' })
      expect(readBy(union, { v: 5, z: 0 })).toEqual({ v: 5 })
    }
  })

  it('A union without a fixed field then prefers a member that matches without unknown fields and with defaults, before coercion', () => {
    const options = { additionalProperties: false }
    const closed = Type.Union([
      Type.Object(Whole.properties, options),
      Type.Object(Text.properties, options),
    ])
    expect(readBy(closed, { v: '5', z: 0 })).toEqual({ v: '5' })
    const filled = Type.Union([
      Type.Object({ a: Type.Integer(), b: Type.Integer() }),
      Type.Object({ a: Type.String(), c: Type.Integer({ default: 3 }) }),
    ])
    expect(readBy(filled, { a: '1', b: 2 })).toEqual({ a: '1', c: 3 })
  })

  it('A union without a fixed field then prefers a member that matches after coercion, only with coercion', () => {
    const union = Type.Union([Whole, Type.Object({ w: Type.Boolean() })])
    expect(readBy(union, { w: 'true' })).toEqual({ w: true })
    expect(readBy(union, { v: '5' })).toEqual({ v: 5 })
    expect(problemsBy(union, { v: '5' }, { coerce: false })).toEqual([
      '/v must be an integer, got "5"',
    ])
  })

  it('A union without a fixed field reads lists by their members', () => {
    const union = Type.Union([Type.Array(Type.Boolean()), Type.Array(Type.Integer())])
    expect(readBy(union, ['1', 2])).toEqual([1, 2])
    expect(readBy(union, ['true'])).toEqual([true])
    expect(readBy(union, '5')).toEqual([5])
  })

  it('A union without a fixed field reads a text as the scalar that it spells', () => {
    expect(readBy(Type.Union([Type.Integer(), Type.Null()]), '5')).toBe(5)
    expect(readBy(Type.Union([Type.Integer(), Type.String()]), '5')).toBe('5')
    expect(readBy(Type.Union([Type.Integer(), Type.Array(Type.Integer())]), '5')).toBe(5)
  })
})

describe('[CORE-U3] of several members that match', () => {
  const A = Type.Object({ a: Type.Integer() })
  const AB = Type.Object({ a: Type.Integer(), b: Type.Optional(Type.Integer()) })

  it('The reader of a union chooses the matching member that keeps most fields, including nested ones', () => {
    expect(readBy(Type.Union([A, AB]), { a: 1, b: 2, z: 0 })).toEqual({ a: 1, b: 2 })
    expect(
      readBy(Type.Union([Type.Object({ p: A }), Type.Object({ p: AB })]), { p: { a: 1, b: 2 } }),
    ).toEqual({
      p: { a: 1, b: 2 },
    })
  })

  it('The reader of a union then chooses the matching member that fills in fewest fields, then the first', () => {
    const filling = Type.Object({
      a: Type.Integer(),
      c: Type.Optional(Type.Integer({ default: 3 })),
    })
    expect(readBy(Type.Union([filling, A]), { a: 1, z: 0 })).toEqual({ a: 1 })
    const other = Type.Object({ a: Type.Integer(), d: Type.Integer({ default: 4 }) })
    expect(readBy(Type.Union([filling, other]), { a: 1 })).toEqual({ a: 1, c: 3 })
  })

  it('The reader of a union finds the member that keeps most fields where members share nested schemas', () => {
    const Inner = Type.Object({ x: Type.Integer(), y: Type.Integer({ default: 0 }) })
    const dropping = Type.Union([
      Type.Object({ p: Inner, b: Type.Integer() }),
      Type.Object({ p: Inner }),
    ])
    const value = { p: { x: 1, y: 1, z1: 0, z2: 0 }, b: '2' }
    expect(readBy(dropping, { ...value, b: 2 })).toEqual({ p: { x: 1, y: 1 }, b: 2 })
    const More = Type.Object({
      x: Type.Optional(Type.Integer({ default: 1 })),
      y: Type.Optional(Type.Integer({ default: 2 })),
    })
    const filling = Type.Union([
      Type.Object({ p: More }),
      Type.Object({ p: More, c: Type.Optional(Type.Integer({ default: 3 })) }),
    ])
    expect(readBy(filling, { p: {} })).toEqual({ p: { x: 1, y: 2 } })
  })

  it('The reader of a union finds the member that keeps most fields where members contain unions', () => {
    const [A, B] = [Type.Object({ a: Type.Integer() }), Type.Object({ b: Type.Integer() })]
    const All = Type.Object({ a: Type.Integer(), b: Type.Integer(), c: Type.Integer() })
    const union = Type.Union([
      Type.Object({ u: Type.Union([A, B, All]), k: Type.Integer() }),
      Type.Object({ u: All }),
    ])
    const value = { u: { a: 1, b: 2, c: 3 }, k: 4 }
    expect(readBy(union, { ...value, z: 0 })).toEqual(value)
  })

  it('The reader of a union prefers a member that the value matches unchanged to one that would keep more fields', () => {
    const completed = Type.Object({
      a: Type.Integer(),
      q: Type.Integer(),
      c: Type.Integer({ default: 3 }),
    })
    expect(readBy(Type.Union([completed, A]), { a: 1, q: 2 })).toEqual({ a: 1 })
  })

  it.each([
    [
      'a text for an integer, which would change a valid value',
      { email: 'a', count: '5' },
      { email: 'a' },
    ],
    ['a value that no member accepts', { email: 'a', count: 'x' }, { email: 'a' }],
    ['an integer beyond 2^53', { id: 2n ** 60n, count: 5 }, { id: String(2n ** 60n), count: 5 }],
  ])(
    'The reader of a union adds a member for an integer beyond 2^53, and no other that needs a conversion: %s',
    (_, given, expected) => {
      const Count = Type.Object({ count: Type.Integer() })
      const Named = Type.Object({
        email: Type.Optional(Type.String()),
        id: Type.Optional(Type.String()),
      })
      expect(readBy(Type.Union([Named, Count]), given)).toEqual(expected)
      expect(readBy(Type.Union([Count, Named]), given)).toEqual(expected)
    },
  )

  it('The reader of a union ends when a value matches hundreds of members together', () => {
    const names = Array.from({ length: 500 }, (_, index) => `k${index}`)
    const members = names.map((name) => ({ type: 'object', properties: { [name]: {} } }))
    const value = Object.fromEntries(names.map((name) => [name, 1]))
    expect(() => readBy({ anyOf: members }, value)).toThrow('steps')
  })

  it('The reader of a union takes the fields around the union into account', () => {
    const schema = {
      type: 'object',
      properties: { c: { type: 'integer' } },
      anyOf: [{ properties: { b: {} }, required: ['b'] }, { type: 'object' }],
    }
    const value = { c: 1, b: 2 }
    expect(readBy(schema, value)).toBe(value)
    expect(readBy(schema, { c: '1', z: 0 })).toEqual({ c: 1 })
  })

  it('The reader of a union chooses no member of an exclusive union when the value could be either', () => {
    const either = {
      oneOf: [Type.Object({ a: Type.Integer() }), Type.Object({ b: Type.Integer() })],
    }
    expect(problemsBy(either, { a: 1, b: 2 })).toEqual([
      'must be valid for exactly one alternative, got {"a":1,"b":2}',
    ])
    expect(readBy(either, { a: 1, z: 0 })).toEqual({ a: 1 })
    const uneven = { oneOf: [A, Type.Object({ b: Type.Integer(), c: Type.Integer() })] }
    expect(problemsBy(uneven, { a: 1, b: 2, c: 3 })).toHaveLength(1)
    const closed = {
      oneOf: either.oneOf.map((member) => ({ ...member, additionalProperties: false })),
    }
    expect(problemsBy(closed, { a: 1, b: 2 })).not.toEqual([])
    expect(readBy(closed, { b: '2', z: 0 })).toEqual({ b: 2 })
  })

  it('The reader of a union chooses the member with all fields of an exclusive union whose members are closed', () => {
    const options = { additionalProperties: false }
    const closed = {
      oneOf: [
        Type.Object(A.properties, options),
        Type.Object({ ...A.properties, b: Type.Integer() }, options),
      ],
    }
    expect(readBy(closed, { a: '1', b: '2' })).toEqual({ a: 1, b: 2 })
  })
})

describe('[CORE-U4] a value that matches no member', () => {
  const Move = Type.Object({ from: Type.String(), to: Type.String(), steps: Type.Integer() })
  const Say = Type.Object({ text: Type.String() })

  it('A value that matches no member has the problems of the closest member, without those that coercion solves', () => {
    const problems = problemsBy(Type.Union([Say, Move]), { from: 'a', steps: '2', to: 5, z: 0 })
    expect(problems).toEqual(['/to must be a string, got 5'])
  })

  it('A value that matches no member has no problem with fields that the closest member does not know', () => {
    const options = { additionalProperties: false }
    const closed = (fields: readonly string[]): TSchema =>
      Type.Object(Object.fromEntries(fields.map((field) => [field, Type.Integer()])), options)
    const [none, more, fewer] = [
      closed(['q']),
      closed(['a', 'b', 'c']),
      closed(['a', 'b', 'c', 'd']),
    ]
    const problems = problemsBy(Type.Union([none, fewer, more]), { a: 1, b: 'x', z: 0 })
    expect(problems).toEqual(['/c is required', '/b must be an integer, got "x"'])
    expect(problemsBy(Type.Union([Type.Array(Type.Integer()), none]), { z: 0 })).toEqual([
      '/q is required',
    ])
  })

  it('A value that matches no member is coerced by the closest of two members that know as many of its fields', () => {
    const far = Type.Object({ a: Type.String(), b: Type.Integer(), c: Type.Integer() })
    const near = Type.Object({ a: Type.Integer(), d: Type.Integer() })
    expect(problemsBy(Type.Union([far, near]), { a: '5' })).toEqual(['/d is required'])
  })

  it('A value that matches no member is shown as given', () => {
    const short = Type.Object(
      { a: Type.Integer(), b: Type.Optional(Type.Integer()) },
      { minProperties: 2 },
    )
    expect(problemsBy(Type.Union([Say, short]), { a: '1', z: 0 })).toEqual([
      'must have at least 2 fields, got {"a":"1","z":0}',
    ])
  })
})

describe('several unions', () => {
  it('Several unions are all resolved at one place, nested and inside intersections', () => {
    const schema = Type.Intersect([
      Type.Union([Circle, Square]),
      Type.Union([
        Type.Object({ at: Type.Integer() }),
        Type.Object({ by: Type.Union([Circle, Type.Null()]) }),
      ]),
    ])
    expect(readBy(schema, { kind: 'square', side: '2', at: '3', z: 0 })).toEqual({
      kind: 'square',
      side: 2,
      at: 3,
    })
    expect(
      readBy(schema, { kind: 'circle', radius: 1, by: { kind: 'circle', radius: '4', z: 0 } }),
    ).toEqual({
      kind: 'circle',
      radius: 1,
      by: { kind: 'circle', radius: 4 },
    })
  })
})
