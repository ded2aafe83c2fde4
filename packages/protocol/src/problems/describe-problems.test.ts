import Type from 'typebox'
import { Check } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { describeProblems } from './describe-problems.ts'

// Parsed from text, because an object literal with `then` looks like a promise.
const condition: object = JSON.parse(
  '{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}',
)

describe('[PROTO-P1] every problem is reported', () => {
  it('describeProblems reports every problem after the eight errors at which TypeBox stops', () => {
    const schema = Type.Array(Type.String())
    expect(
      describeProblems(
        schema,
        Array.from({ length: 20 }, () => 1),
      ),
    ).toHaveLength(20)
  })

  it.each<[string, object, unknown, string[]]>([
    [
      'nested',
      Type.Object({ a: Type.Array(Type.Object({ b: Type.Integer() })) }),
      { a: [{ b: 1 }, { b: 'x' }, {}] },
      ['/a/1/b', '/a/2/b'],
    ],
    [
      'record',
      Type.Record(Type.String(), Type.Integer()),
      { a: 1, b: 'x', 'c/d~e': null },
      ['/b', '/c~1d~0e'],
    ],
    ['tuple', Type.Tuple([Type.String(), Type.Integer()]), [1, 'a'], ['/0', '/1']],
    ['tuple, too long', Type.Tuple([Type.String()]), ['a', 'b'], ['/1']],
    ['old tuple', { items: [{ type: 'string' }, { type: 'integer' }] }, [1, 'a'], ['/0', '/1']],
    [
      'intersection',
      Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
      {},
      ['/a', '/b'],
    ],
    [
      'definitions',
      { $defs: { N: { type: 'integer' } }, properties: { a: { $ref: '#/$defs/N' } } },
      { a: 'x' },
      ['/a'],
    ],
    [
      'definitions of a part',
      { properties: { a: { $defs: { N: { $id: 'N', type: 'integer' } }, $ref: 'N' } } },
      { a: 'x' },
      ['/a'],
    ],
    [
      'a reference to the root',
      { properties: { next: { $ref: '#' }, n: { type: 'integer' } } },
      { next: { next: { n: 'x' } } },
      ['/next/next/n'],
    ],
    [
      'an anchor',
      { $defs: { N: { $anchor: 'n', type: 'integer' } }, properties: { a: { $ref: '#n' } } },
      { a: 'x' },
      ['/a'],
    ],
    ['a condition', condition, {}, ['/c']],
    ['a condition that holds', condition, { a: 1 }, ['/b']],
    [
      'left-over fields',
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1, b: 1 },
      ['/b'],
    ],
    ['exactly one', { oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1, b: 1 }, ['']],
    ['dependent', { dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, ['/b']],
    ['false', { properties: { a: false } }, { a: 1 }, ['/a']],
    [
      'patterns',
      { patternProperties: { '^n_': { type: 'integer' } }, additionalProperties: false },
      { n_a: 'x', m: 1 },
      ['/n_a', '/m'],
    ],
  ])('describeProblems reports every problem: %s', (_, schema, value, paths) => {
    expect(Check(schema, value)).toBe(false)
    expect(describeProblems(schema, value).map((problem) => problem.path)).toEqual(paths)
  })

  it('describeProblems reports none for a valid value', () => {
    expect(describeProblems({ oneOf: [{ type: 'string' }, { type: 'integer' }] }, 1)).toEqual([])
    expect(
      describeProblems(Type.Object({ a: Type.Optional(Type.String()) }), { a: undefined }),
    ).toEqual([])
    expect(describeProblems({}, Symbol('s'))).toEqual([])
  })
})

describe('[PROTO-P2] a union', () => {
  const shape = Type.Union([
    Type.Object({ type: Type.Literal('circle'), radius: Type.Number() }),
    Type.Object({ type: Type.Literal('square'), side: Type.Number() }),
  ])

  it('A union is judged by the member that the value names', () => {
    expect(describeProblems(shape, { type: 'circle', side: 1 }).map((p) => p.path)).toEqual([
      '/radius',
    ])
    expect(describeProblems(Type.Array(shape), [{ type: 'square' }]).map((p) => p.path)).toEqual([
      '/0/side',
    ])
  })

  it('A union requires its distinguishing field', () => {
    expect(describeProblems(shape, {})).toEqual([
      { path: '/type', message: 'is required', expected: 'one of "circle", "square"' },
    ])
    expect(describeProblems(shape, { type: 'star' }).map((p) => p.message)).toEqual([
      'must be one of "circle", "square", got "star"',
    ])
  })

  it('A union of different types is judged by the JSON type of the value', () => {
    const either = Type.Union([Type.String(), Type.Object({ q: Type.String() }), Type.Null()])
    expect(describeProblems(either, { q: 1 }).map((p) => p.path)).toEqual(['/q'])
    expect(describeProblems(either, 5).map((p) => p.message)).toEqual([
      'must be a string or an object or null, got 5',
    ])
  })

  it('A union of objects without a distinguishing field is judged by the closest one', () => {
    const either = Type.Union([
      Type.Object({ a: Type.String(), b: Type.String(), c: Type.String() }),
      Type.Object({ d: Type.String() }),
    ])
    expect(describeProblems(either, { a: 'x', b: 'x' }).map((p) => p.path)).toEqual(['/c'])
  })
})

describe('[PROTO-P3] a value of the wrong type', () => {
  it('A value of the wrong type is one problem', () => {
    const schema = Type.Object({ a: Type.String(), b: Type.String() }, { minProperties: 1 })
    expect(describeProblems(schema, 'x').map((p) => p.path)).toEqual([''])
  })
})

describe('[PROTO-P4] describeProblems', () => {
  it('describeProblems reports items that are repeated many times once, in time that grows with their number', () => {
    const schema = Type.Array(Type.String(), { uniqueItems: true, maxItems: 10 })
    const problems = describeProblems(
      schema,
      Array.from({ length: 200_000 }, () => 'same'),
    )
    expect(problems.map(({ path, message }) => [path, message.slice(0, 36)])).toEqual([
      ['', 'must have at most 10 items, got ["sa'],
      ['', 'must not have the same item twice, g'],
    ])
  })

  it('describeProblems terminates for a value that contains itself in many places, with a recursive schema', () => {
    const schema = {
      $defs: {
        A: {
          anyOf: [
            {
              type: 'object',
              properties: { of: { items: { $ref: '#/$defs/A' } } },
              required: ['of'],
            },
            { type: 'object', properties: { not: { $ref: '#/$defs/A' } }, required: ['not'] },
          ],
        },
      },
      $ref: '#/$defs/A',
    }
    const cyclic: { of: unknown[] } = { of: [] }
    cyclic.of.push(cyclic, cyclic, cyclic)
    expect(describeProblems(schema, cyclic)).toEqual([
      { path: '/of/0', message: 'contains itself' },
      { path: '/of/1', message: 'contains itself' },
      { path: '/of/2', message: 'contains itself' },
    ])
  })

  it('describeProblems visits the same value in two places, or twice with two schemas', () => {
    const shared = { n: 'x' }
    const Numbered = Type.Object({ n: Type.Integer() })
    const twice = Type.Object({ a: Numbered, b: Numbered })
    expect(describeProblems(twice, { a: shared, b: shared }).map((p) => p.path)).toEqual([
      '/a/n',
      '/b/n',
    ])
    const cyclic: Record<string, unknown> = {}
    cyclic['a'] = cyclic
    const nested = Type.Object({ a: Type.Object({ a: Type.Integer() }) })
    expect(describeProblems(nested, cyclic).map((p) => p.path)).toEqual(['/a/a'])
  })

  it('describeProblems terminates for a reference that leads back to itself', () => {
    const schema = { $defs: { A: { $ref: '#/$defs/A' } }, $ref: '#/$defs/A' }
    expect(describeProblems(schema, 1).map((p) => p.message)).toEqual([
      'is nested too deeply to be checked',
    ])
  })
})
