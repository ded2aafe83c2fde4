import Type from 'typebox'
import { MAX_DEPTH } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { problemsBy, readBy } from '../../test/read-by.ts'

import type { TSchema } from 'typebox'

const Numbers = Type.Array(Type.Integer())
const Node = Type.Cyclic(
  {
    Node: Type.Object({ n: Type.Optional(Type.Integer()), next: Type.Optional(Type.Ref('Node')) }),
  },
  'Node',
)

describe('[CORE-M4] an invalid value', () => {
  it.each<[string, TSchema, unknown, unknown]>([
    ['a number as text', Type.Number({ minimum: 1 }), ' 1.5 ', 1.5],
    ['a whole number as text', Type.Integer(), '5', 5],
    ['a whole number with a zero fraction', Type.Integer(), '5.0', 5],
    ['a boolean as text', Type.Boolean(), 'TRUE', true],
    ['a constant as text', Type.Literal(5), '5', 5],
    ['one of several constants', Type.Enum([1, 5, 'a']), '5', 5],
    ['a constant that is a boolean', { enum: [false, 'maybe'] }, 'False', false],
    ['a list as text', Numbers, '[1,"2"]', [1, 2]],
    ['an object as text', Type.Object({ a: Type.Integer() }), '{"a":"1","z":0}', { a: 1 }],
    ['text inside text', Type.Object({ a: Numbers }), '{"a":"[\\"1\\"]"}', { a: [1] }],
    ['one value for a list', Numbers, 5, [5]],
    ['one value as text for a list', Numbers, '5', [5]],
    [
      'one object for a list',
      Type.Array(Type.Object({ a: Type.Integer() })),
      { a: '1' },
      [{ a: 1 }],
    ],
    ['text that looks like a list, for one of texts', Type.Array(Type.String()), '[1]', ['[1]']],
    ['text of a list, for one of texts', Type.Array(Type.String()), '["a"]', ['a']],
    ['a nullable number as text', { type: ['integer', 'null'] }, '5', 5],
    ['a member of a union as text', Type.Union([Type.Integer(), Type.Boolean()]), 'true', true],
    [
      'the target of a reference, as text',
      { $defs: { N: { type: 'integer' } }, items: { $ref: '#/$defs/N' }, type: 'array' },
      ['1', 2],
      [1, 2],
    ],
    [
      'each part of a recursive type',
      Node,
      { n: '1', next: { n: '2', next: '{"n":"3"}' } },
      { n: 1, next: { n: 2, next: { n: 3 } } },
    ],
    [
      'a field that two parts declare',
      Type.Intersect([Type.Object({ a: Type.Number() }), Type.Object({ a: Type.Integer() })]),
      { a: '1' },
      { a: 1 },
    ],
    ['a value of a record', Type.Record(Type.String(), Type.Integer()), { a: '1' }, { a: 1 }],
    ['an item of a tuple', Type.Tuple([Type.Integer(), Type.String()]), ['1', '2'], [1, '2']],
    ['an integral float', Type.Integer(), 5.0, 5],
  ])('An invalid value is coerced: %s', (_, schema, value, expected) => {
    expect(readBy(schema, value)).toEqual(expected)
  })

  it.each<[string, TSchema, unknown, string]>([
    ['text that is not a number', Type.Integer(), 'abc', 'must be an integer, got "abc"'],
    ['empty text', Type.Integer(), '', 'must be an integer, got ""'],
    ['a fraction for a whole number', Type.Integer(), '1.5', 'must be an integer, got "1.5"'],
    ['a fraction', Type.Integer(), 1.5, 'must be an integer, got 1.5'],
    [
      'a number that is too large',
      Type.Integer(),
      '9007199254740993',
      'must be an integer, got "9007199254740993"',
    ],
    ['a number beyond a bound', Type.Integer({ maximum: 3 }), '5', 'must be an integer, got "5"'],
    ['a number for text', Type.String(), 5, 'must be a string, got 5'],
    ['a boolean for text', Type.String(), true, 'must be a string, got true'],
    ['a number for a boolean', Type.Boolean(), 1, 'must be a boolean, got 1'],
    ['yes', Type.Boolean(), 'yes', 'must be a boolean, got "yes"'],
    ['empty text for a list', Numbers, '', 'must be an array, got ""'],
    ['one value that is no item', Numbers, 'x', 'must be an array, got "x"'],
    ['null for a list', Type.Array(Type.Null()), null, 'must be an array, got null'],
    ['text for null', Type.Null(), 'null', 'must be null, got "null"'],
    ['a list for one value', Type.Integer(), [5], 'must be an integer, got [5]'],
    [
      'text of an object that does not fit',
      Type.Object({ a: Type.Integer() }),
      '{"a":"x"}',
      'must be an object, got "{\\"a\\":\\"x\\"}"',
    ],
    ['text that is nearly JSON', Type.Object({}), '{a:1}', 'must be an object, got "{a:1}"'],
    ['a number that is none of several', Type.Enum([1, 5]), '6', 'must be one of 1, 5, got "6"'],
  ])('An invalid value is not coerced: %s', (_, schema, value, problem) => {
    expect(problemsBy(schema, value)).toEqual([problem])
  })

  it.each<[string, TSchema, unknown]>([
    ['text where text or a number may be', { type: ['string', 'integer'] }, '5'],
    ['text where only a pattern is asked for', { pattern: '^5$' }, '5'],
    ['text where anything may be', {}, '{"a":1}'],
    ['text that is one of several constants', { enum: ['5', 5] }, '5'],
    ['JSON text', Type.String(), '{"a":1}'],
    [
      'an object where a list may be too',
      { anyOf: [{ type: 'object' }, { type: 'array' }] },
      { a: '1' },
    ],
  ])('An invalid value is not coerced when it is valid: %s', (_, schema, value) => {
    expect(readBy(schema, value)).toBe(value)
  })

  it.each<[TSchema, unknown]>([
    [{ maxLength: 2 }, '12345'],
    [{ format: 'date' }, 'today'],
    [{ not: { type: 'string' } }, '5'],
  ])('An invalid value is coerced only to types that the schema %j allows', (schema, value) => {
    expect(problemsBy(schema, value)).toHaveLength(1)
  })

  it.each<[TSchema, unknown]>([
    [Type.Integer(), '5'],
    [Type.Boolean(), 'true'],
    [Numbers, 5],
    [Numbers, '[5]'],
    [Type.Object({}), '{}'],
  ])('An invalid value is not coerced without coercion: %j of %j', (schema, value) => {
    expect(problemsBy(schema, value, { coerce: false })).toHaveLength(1)
  })
})

describe('[CORE-M5] a list of lists', () => {
  const Rows = Type.Array(Numbers)

  it('A list of lists is not made from a list, nor an inner list from one value', () => {
    expect(problemsBy(Rows, [1, 2])).toEqual([
      '/0 must be an array, got 1',
      '/1 must be an array, got 2',
    ])
    expect(problemsBy(Rows, [[1], 2])).toEqual(['/1 must be an array, got 2'])
  })

  it('A list of lists has its numbers coerced', () => {
    expect(readBy(Rows, [['1'], '[2]'])).toEqual([[1], [2]])
  })

  it('A list of lists has no effect inside an object in a list', () => {
    expect(readBy(Type.Array(Type.Object({ l: Numbers })), [{ l: 1 }])).toEqual([{ l: [1] }])
  })
})

describe('[CORE-M1] the given value', () => {
  const schema = Type.Object({
    same: Type.Object({ a: Type.Integer() }),
    items: Type.Array(Type.Object({ n: Type.Integer() })),
    d: Type.Integer({ default: 1 }),
  })

  it('The given value is not modified, and unchanged parts are not copied', () => {
    const value = deepFreeze({ same: { a: 1 }, items: [{ n: 1 }, { n: '2', z: 0 }], z: { y: 1 } })
    const read = readBy(schema, value) as typeof value
    expect(read).toEqual({ same: { a: 1 }, items: [{ n: 1 }, { n: 2 }], d: 1 })
    expect(read.same).toBe(value.same)
    expect(read.items[0]).toBe(value.items[0])
    expect(read.items).not.toBe(value.items)
  })
})

describe('[CORE-M7] normalization', () => {
  it('Normalization terminates for a value that contains itself', () => {
    const cyclic: Record<string, unknown> = { n: '1' }
    cyclic['next'] = cyclic
    expect(problemsBy(Node, cyclic)).not.toEqual([])
    expect(readBy(Type.Object({ n: Type.Integer(), next: Type.Unknown() }), cyclic)).toEqual({
      n: 1,
      next: cyclic,
    })
  })

  it('Normalization terminates for a value that contains itself in two fields', () => {
    const Tree = Type.Cyclic(
      {
        Tree: Type.Object({
          n: Type.Integer(),
          left: Type.Optional(Type.Ref('Tree')),
          right: Type.Optional(Type.Ref('Tree')),
        }),
      },
      'Tree',
    )
    const cyclic: Record<string, unknown> = { n: '1' }
    Object.assign(cyclic, { left: cyclic, right: cyclic })
    expect(problemsBy(Tree, cyclic)).not.toEqual([])
  })

  it('Normalization terminates for a value that contains itself in many places, with a recursive schema', () => {
    const Tree = Type.Cyclic(
      {
        Tree: Type.Union([
          Type.Object({ all: Type.Array(Type.Ref('Tree')) }),
          Type.Object({ one: Type.Ref('Tree') }),
        ]),
      },
      'Tree',
    )
    const cyclic: { all: unknown[] } = { all: [] }
    cyclic.all.push(cyclic, cyclic, { one: cyclic })
    expect(problemsBy(Tree, cyclic)).not.toEqual([])
  })

  it('Normalization stops at MAX_DEPTH levels, below which values are not coerced', () => {
    expect(readBy(Node, listOf(MAX_DEPTH - 1, '1'))).toEqual(listOf(MAX_DEPTH - 1, 1))
    expect(problemsBy(Node, listOf(MAX_DEPTH + 1, '1'))).toHaveLength(1)
    expect(readBy(Node, listOf(MAX_DEPTH + 1, 1))).toEqual(listOf(MAX_DEPTH + 1, 1))
  })

  it('Normalization terminates for a value 100,000 levels deep, expected or not', () => {
    const deep = listOf(100_000, '1')
    expect(problemsBy(Node, deep).map((problem) => problem.replace(/^\S+ /, ''))).toEqual([
      'is nested too deeply to be checked',
    ])
    expect(problemsBy({ ...Node, if: {} }, deep)).toEqual([
      expect.stringMatching(/ is nested too deeply to be checked$/),
    ])
    expect(
      readBy(Type.Object({ a: Type.Unknown(), n: Type.Integer() }), { a: deep, n: '1' }),
    ).toMatchObject({ n: 1 })
    expect(problemsBy(Numbers, '['.repeat(100_000) + ']'.repeat(100_000))).toHaveLength(1)
  })

  it('Normalization terminates for a value 100,000 levels deep, with unions', () => {
    const Expression = Type.Cyclic(
      {
        E: Type.Union([Type.Object({ not: Type.Ref('E') }), Type.Object({ n: Type.Integer() })]),
      },
      'E',
    )
    let value: unknown = { n: '1' }
    for (let level = 0; level < 100_000; level++) value = { not: value }
    const problems = problemsBy(Expression, value)
    expect(problems).not.toEqual([])
    expect(problems.filter((problem) => problem.includes('cannot be checked'))).toEqual([])
  })

  it('Normalization does not multiply its work for nested unions', () => {
    const Expression = Type.Cyclic(
      {
        E: Type.Union([
          Type.Object({ left: Type.Ref('E'), right: Type.Ref('E') }),
          Type.Object({ not: Type.Ref('E') }),
          Type.Object({ n: Type.Integer() }),
        ]),
      },
      'E',
    )
    let value: unknown = { n: '1', z: 0 }
    let expected: unknown = { n: 1 }
    for (let level = 0; level < 60; level++) {
      value = { left: { not: value }, right: { n: '2' } }
      expected = { left: { not: expected }, right: { n: 2 } }
    }
    expect(readBy(Expression, value)).toEqual(expected)
  })

  it('Normalization handles many items', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => String(index))
    expect(readBy(Numbers, many)).toEqual(many.map(Number))
  })
})

function listOf(length: number, n: unknown): unknown {
  let list: unknown = { n }
  for (let index = 0; index < length; index++) list = { next: list }
  return list
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object') deepFreeze(part)
  return Object.freeze(value)
}
