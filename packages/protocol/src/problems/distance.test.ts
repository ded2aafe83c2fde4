import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { describeProblems } from './describe-problems.ts'
import { findNearest } from './distance.ts'

const Say = Type.Object({ text: Type.String() })
const Move = Type.Object({ from: Type.String(), to: Type.String(), by: Type.Array(Type.String()) })

function paths(schema: object, value: unknown): string[] {
  return describeProblems(schema, value).map((problem) => problem.path)
}

describe('a value that matches no member of a union is judged by the one', () => {
  it('A value is judged by the member of a union whose fields it has, however many are invalid', () => {
    const either = Type.Union([Say, Move, Type.Object({ from: Type.String(), via: Say })])
    expect(paths(either, { from: 1, to: 2, by: [3] })).toEqual(['/from', '/to', '/by/0'])
    expect(paths(either, { from: 'a', via: {} })).toEqual(['/via/text'])
    const deeper = Type.Union([Say, Type.Object({ from: Type.String(), via: Move })])
    expect(paths(deeper, { from: 'a', via: {} })).toEqual(['/via/from', '/via/to', '/via/by'])
    expect(paths(Type.Array(either), [{ from: 'a', via: {} }])).toEqual(['/0/via/text'])
  })

  it('A value is judged by the member that declares most of its fields, if the same number is missing', () => {
    expect(paths(Type.Union([Say, Move]), { from: 1, to: 2 })).toEqual(['/by', '/from', '/to'])
  })

  it.each<[string, object]>([
    ['an intersection', { allOf: [Move] }],
    ['a union', { anyOf: [Move, { type: 'null' }] }],
    ['an exclusive union', { oneOf: [Move, { type: 'null' }] }],
    ['a reference', { $ref: '#/$defs/Move' }],
  ])(
    'A value is judged by the member that declares its fields in any of its parts: %s',
    (_, part) => {
      const more = { properties: { more: {} }, type: 'object', ...part }
      const found = paths({ $defs: { Move }, anyOf: [Say, more] }, { from: 'a', to: 'b' })
      expect(found).toEqual(['/by'])
    },
  )

  it('A value is judged by the member that declares no fields, if another declares only other fields', () => {
    const either = Type.Union([
      Type.Object({ text: Type.Optional(Type.Integer()) }, { minProperties: 3 }),
      Type.Record(Type.String(), Type.Integer()),
    ])
    expect(paths(either, { a: 'x' })).toEqual(['/a'])
  })

  it('A value is judged by the member with the fewest problems, and then by the first one, if all else is equal', () => {
    const A = Type.Object({ a: Type.String(), b: Type.String() })
    const B = Type.Object({ a: Type.String(), b: Type.Integer() })
    expect(paths(Type.Union([A, B]), { a: 1, b: 2 })).toEqual(['/a'])
    expect(paths(Type.Union([A, A]), { a: 1, b: 2 })).toEqual(['/a', '/b'])
  })
})

describe('findNearest', () => {
  it('findNearest compares the counts one after the other', () => {
    expect(
      findNearest([
        [1, 0, 0],
        [0, 5, 5],
        [0, 4, 9],
      ]),
    ).toBe(2)
    expect(
      findNearest([
        [0, 1, 2],
        [0, 1, 1],
        [0, 1, 1],
      ]),
    ).toBe(1)
    expect(findNearest([])).toBe(-1)
  })
})
