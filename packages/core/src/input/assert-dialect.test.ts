import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { assertDialect } from './assert-dialect.ts'

const plain = Type.Object({
  a: Type.String({ minLength: 1, format: 'email' }),
  b: Type.Optional(Type.Array(Type.Enum(['x', 'y']))),
  c: Type.Union([Type.Integer({ minimum: 1 }), Type.Boolean()]),
})

const DIALECTS = ['draft-2020-12', 'draft-07', 'openapi-3.0']

describe('assertDialect', () => {
  it.each(DIALECTS)(
    'assertDialect returns the same schema when it has the same meaning in %s',
    (target) => {
      expect(assertDialect(plain, target)).toBe(plain)
    },
  )

  it.each<[string, object, string[]]>([
    ['a literal', Type.Literal('x'), ['draft-2020-12', 'draft-07']],
    ['null', Type.Null(), ['draft-2020-12', 'draft-07']],
    ['a record', Type.Record(Type.String(), Type.Integer()), ['draft-2020-12', 'draft-07']],
    ['a tuple', Type.Tuple([Type.String()]), ['draft-07']],
    ['an open tuple', { items: [{}] }, ['draft-07']],
    ['a tuple of 2020-12', { prefixItems: [{}] }, ['draft-2020-12']],
    [
      'a reference',
      { $defs: { A: {} }, $ref: '#/$defs/A', title: 'x' },
      ['draft-2020-12', 'draft-07'],
    ],
    [
      'a reference with siblings',
      { $defs: { A: {} }, $ref: '#/$defs/A', minimum: 1 },
      ['draft-2020-12'],
    ],
    ['dependencies', { dependencies: { a: ['b'] } }, ['draft-07']],
    ['dependent fields', { dependentRequired: { a: ['b'] } }, ['draft-2020-12']],
    ['an exclusive bound', { exclusiveMinimum: 1 }, ['draft-2020-12', 'draft-07']],
    ['a closed intersection', { allOf: [], unevaluatedProperties: false }, ['draft-2020-12']],
    ['a list of types', { type: ['string', 'null'] }, ['draft-2020-12', 'draft-07']],
  ])('assertDialect throws for %s, which would have another meaning', (_, part, dialects) => {
    const schema = { type: 'object', properties: { p: part } }
    const possible = DIALECTS.filter((target) => {
      try {
        return assertDialect(schema, target) === schema
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
        return false
      }
    })
    expect(possible).toEqual(dialects)
  })

  it('assertDialect lists everything that a dialect does not support', () => {
    const schema = Type.Object({ a: Type.Literal(1), b: Type.Array(Type.Null()) })
    expect(() => assertDialect(schema, 'openapi-3.0')).toThrow(
      new TypeError(
        'Cannot convert schema to "openapi-3.0": it does not support /properties/a/const, /properties/b/items/type',
      ),
    )
  })

  it('assertDialect lists the supported dialects for an unknown one', () => {
    expect(() => assertDialect(plain, 'draft-04')).toThrow(
      new TypeError(
        'Cannot convert schema to "draft-04": target must be one of "draft-2020-12", "draft-07", "openapi-3.0"',
      ),
    )
  })
})
