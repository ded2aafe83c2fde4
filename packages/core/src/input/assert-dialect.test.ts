import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { assertDialect } from './assert-dialect.ts'

const plain = Type.Object({
  a: Type.String({ minLength: 1, format: 'email' }),
  b: Type.Optional(Type.Array(Type.Enum(['x', 'y']))),
  c: Type.Union([Type.Integer({ minimum: 1 }), Type.Boolean()]),
})

const DIALECTS = ['draft-2020-12', 'draft-07', 'openapi-3.0']

describe('inDialect', () => {
  it.each(DIALECTS)('gives a schema that means the same in %s, the very same one', (target) => {
    expect(assertDialect(plain, target)).toBe(plain)
  })

  it.each<[string, object, string[]]>([
    ['a literal', Type.Literal('x'), ['draft-2020-12', 'draft-07']],
    ['null', Type.Null(), ['draft-2020-12', 'draft-07']],
    ['a record', Type.Record(Type.String(), Type.Integer()), ['draft-2020-12', 'draft-07']],
    ['a tuple', Type.Tuple([Type.String()]), ['draft-07']],
    ['a tuple that may go on', { items: [{}] }, ['draft-07']],
    ['a tuple of 2020-12', { prefixItems: [{}] }, ['draft-2020-12']],
    [
      'a reference',
      { $defs: { A: {} }, $ref: '#/$defs/A', title: 'x' },
      ['draft-2020-12', 'draft-07'],
    ],
    [
      'a reference with more beside it',
      { $defs: { A: {} }, $ref: '#/$defs/A', minimum: 1 },
      ['draft-2020-12'],
    ],
    ['dependencies', { dependencies: { a: ['b'] } }, ['draft-07']],
    ['dependent fields', { dependentRequired: { a: ['b'] } }, ['draft-2020-12']],
    ['an exclusive bound', { exclusiveMinimum: 1 }, ['draft-2020-12', 'draft-07']],
    ['a closed intersection', { allOf: [], unevaluatedProperties: false }, ['draft-2020-12']],
    ['a list of types', { type: ['string', 'null'] }, ['draft-2020-12', 'draft-07']],
  ])('refuses %s where it would mean something else', (_, part, dialects) => {
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

  it('names all that a dialect has no way to say', () => {
    const schema = Type.Object({ a: Type.Literal(1), b: Type.Array(Type.Null()) })
    expect(() => assertDialect(schema, 'openapi-3.0')).toThrow(
      new TypeError(
        'Cannot convert schema to "openapi-3.0": it does not support /properties/a/const, /properties/b/items/type',
      ),
    )
  })

  it('names the dialects there are when it is asked for another', () => {
    expect(() => assertDialect(plain, 'draft-04')).toThrow(
      new TypeError(
        'Cannot convert schema to "draft-04": target must be one of "draft-2020-12", "draft-07", "openapi-3.0"',
      ),
    )
  })
})
