import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { compileClosedCheck } from './closed-schema.ts'
import { createSchemaDocument } from './schema-document.ts'

import type { Check } from '@tutti/protocol/internal'

function closed(schema: unknown): Check {
  const check = compileClosedCheck(createSchemaDocument(schema))
  if (check === undefined) throw new Error('There is no closed schema')
  return check
}

const A = Type.Object({ a: Type.Integer() })
const B = Type.Object({ b: Type.Optional(Type.Integer({ default: 1 })) })

describe('compileClosedCheck', () => {
  it.each<[string, unknown, unknown[], unknown[]]>([
    ['an object', A, [{ a: 1 }], [{ a: 1, z: 0 }, { a: '1' }, {}]],
    ['a default', B, [{ b: 2 }], [{}, { b: null }]],
    [
      'a nested object',
      Type.Object({ p: Type.Array(A) }),
      [{ p: [{ a: 1 }] }],
      [{ p: [{ a: 1, z: 0 }] }],
    ],
    ['a record', Type.Record(Type.String(), A), [{ x: { a: 1 } }, {}], [{ x: { a: 1, z: 0 } }]],
    ['an open object', { type: 'object' }, [{ z: 0 }], [5]],
    [
      'an open rest',
      { properties: {}, additionalProperties: A },
      [{ z: { a: 1 } }],
      [{ z: { a: 1, z: 0 } }],
    ],
    [
      'a required field of any type',
      { properties: {}, required: ['a'] },
      [{ a: 0 }],
      [{}, { a: 0, z: 0 }],
    ],
    [
      'a tuple',
      Type.Tuple([A, Type.String()]),
      [[{ a: 1 }, 'x']],
      [
        [{ a: 1, z: 0 }, 'x'],
        [{ a: 1 }, 'x', 0],
      ],
    ],
    [
      'a tuple of 2020-12',
      { prefixItems: [A], items: B },
      [[{ a: 1 }, { b: 1 }]],
      [[{ a: 1 }, {}]],
    ],
    ['an intersection', Type.Intersect([A, B]), [{ a: 1, b: 2 }], [{ a: 1 }, { a: 1, b: 2, z: 0 }]],
    [
      'a field of two parts',
      Type.Intersect([Type.Object({ p: A }), Type.Object({ p: B })]),
      [{ p: { a: 1, b: 2 } }],
      [{ p: { a: 1 } }],
    ],
    ['a union', Type.Union([A, B, Type.String()]), [{ a: 1 }, { b: 1 }, 'x'], [{ a: 1, b: 1 }, {}]],
    [
      'a union with fields round it',
      { ...A, anyOf: [B, Type.Object({ c: Type.Null() })] },
      [
        { a: 1, b: 2 },
        { a: 1, c: null },
      ],
      [{ a: 1 }, { b: 2 }],
    ],
    [
      'two unions',
      Type.Intersect([
        Type.Union([A, B]),
        Type.Union([Type.Object({ c: Type.Integer() }), Type.Object({ d: Type.Integer() })]),
      ]),
      [
        { a: 1, c: 1 },
        { b: 1, d: 1 },
      ],
      [{ a: 1 }, { a: 1, b: 1, c: 1 }],
    ],
    [
      'an exclusive union',
      { oneOf: [A, { ...B, required: ['b'] }] },
      [{ a: 1 }, { b: 1 }],
      [{ a: 1, b: 1 }, {}],
    ],
    [
      'a reference',
      { $defs: { A }, properties: { p: { $ref: '#/$defs/A' } } },
      [{ p: { a: 1 } }],
      [{ p: { a: 1, z: 0 } }],
    ],
    [
      'a recursive type',
      Type.Cyclic({ L: Type.Object({ next: Type.Union([Type.Ref('L'), Type.Null()]) }) }, 'L'),
      [{ next: { next: null } }],
      [{ next: { next: null, z: 0 } }],
    ],
    [
      'bounds',
      Type.Object({ a: Type.String({ minLength: 2, pattern: '^x' }) }, { minProperties: 1 }),
      [{ a: 'xy' }],
      [{ a: 'yx' }, { a: 'x' }],
    ],
    [
      'a name of every object',
      { properties: { toString: { type: 'string' } }, required: ['toString'] },
      [{ toString: 'x' }],
      [{}],
    ],
    [
      'a schema that nothing fits',
      { properties: { a: false, b: { allOf: [false] } } },
      [{}],
      [{ a: 1 }, { b: 1 }],
    ],
  ])(
    'compileClosedCheck accepts for %s the values that reading does not change',
    (_, schema, passing, others) => {
      const check = closed(schema)
      for (const value of passing) expect([value, check(value)]).toEqual([value, true])
      for (const value of others) expect([value, check(value)]).toEqual([value, false])
    },
  )

  it('compileClosedCheck keeps the non-enumerable refinements of TypeBox', () => {
    const schema = Type.Object({
      a: Type.Refine(
        Type.Integer(),
        (value) => value !== 3,
        () => 'not three',
      ),
    })
    expect(closed(schema)({ a: 3 })).toBe(false)
    expect(closed(schema)({ a: 4 })).toBe(true)
  })

  it.each<[string, unknown]>([
    ['conditions', { properties: {}, if: {} }],
    ['dependent schemas', { properties: { a: { dependentSchemas: { b: {} } } } }],
    ['what is left', Type.Intersect([A, B], { unevaluatedProperties: false })],
    ['a closed part of an intersection', { allOf: [{ ...A, additionalProperties: false }, B] }],
    ['lists in two parts', { allOf: [{ items: A }, { items: B }] }],
    [
      'a reference found while checking',
      { $dynamicAnchor: 'x', properties: { a: { $dynamicRef: '#x' } } },
    ],
    ['nothing', false],
    [
      'more members than are worth it',
      {
        allOf: Array.from({ length: 12 }, (_, n) => ({
          anyOf: [{ properties: { [`a${n}`]: {} } }, { properties: { [`b${n}`]: {} } }],
        })),
      },
    ],
  ])('compileClosedCheck returns undefined for %s', (_, schema) => {
    expect(compileClosedCheck(createSchemaDocument(schema))).toBeUndefined()
  })
})
