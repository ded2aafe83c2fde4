/** One case for each keyword. The messages are pinned because users and models read them. */
import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { describeProblems } from './describe-problems.ts'

const closed = { additionalProperties: false }

describe('describeProblem', () => {
  it.each<[string, object, unknown, string]>([
    ['type', Type.String(), 42, 'must be a string, got 42'],
    ['several types', { type: ['string', 'null'] }, 42, 'must be a string or null, got 42'],
    ['integer', Type.Integer(), 1.5, 'must be an integer, got 1.5'],
    ['number', Type.Number(), Number.NaN, 'must be a number, got NaN'],
    ['array', Type.Array(Type.String()), 'a', 'must be an array, got "a"'],
    ['object', Type.Object({}), [], 'must be an object, got []'],
    ['undefined', Type.String(), undefined, 'must be a string, got undefined'],
    ['const', Type.Literal('a'), 'b', 'must be "a", got "b"'],
    ['const object', { const: { a: 1 } }, {}, 'must be {"a":1}, got {}'],
    ['enum', Type.Enum(['GET', 'POST']), 1, 'must be one of "GET", "POST", got 1'],
    [
      'enum, nearly',
      Type.Enum(['GET', 'POST']),
      'PSOT',
      'must be one of "GET", "POST", got "PSOT"; did you mean "POST"?',
    ],
    [
      'literals',
      Type.Union([Type.Literal(1), Type.Literal('a'), Type.Null()]),
      2,
      'must be one of 1, "a", null, got 2',
    ],
    [
      'union',
      Type.Union([Type.String(), Type.Array(Type.Integer())]),
      1,
      'must be a string or an array, got 1',
    ],
    ['minimum', Type.Integer({ minimum: 1 }), 0, 'must be >= 1, got 0'],
    ['maximum', Type.Integer({ maximum: 9 }), 10, 'must be <= 9, got 10'],
    [
      'exclusive',
      Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }),
      0,
      'must be > 0, got 0',
    ],
    ['multiple', Type.Integer({ multipleOf: 5 }), 7, 'must be a multiple of 5, got 7'],
    ['shortest', Type.String({ minLength: 1 }), '', 'must have at least 1 character, got ""'],
    ['longest', Type.String({ maxLength: 2 }), 'abc', 'must have at most 2 characters, got "abc"'],
    [
      'format',
      Type.String({ format: 'date-time' }),
      'today',
      'must be a date and time such as "2025-03-15T10:30:00Z", got "today"',
    ],
    ['other format', Type.String({ format: 'ipv4' }), 'x', 'must be a valid ipv4, got "x"'],
    ['pattern', Type.String({ pattern: '^a+$' }), 'b', 'must be text that matches /^a+$/, got "b"'],
    [
      'our pattern',
      Type.String({ pattern: '\\S' }),
      ' ',
      'must be text that is not blank, got " "',
    ],
    [
      'fewest items',
      Type.Array(Type.Any(), { minItems: 1 }),
      [],
      'must have at least 1 item, got []',
    ],
    [
      'most items',
      Type.Array(Type.Any(), { maxItems: 1 }),
      [1, 2],
      'must have at most 1 item, got [1,2]',
    ],
    [
      'unique items',
      Type.Array(Type.Any(), { uniqueItems: true }),
      [1, 1],
      'must not have the same item twice, got [1,1]',
    ],
    [
      'contains',
      Type.Array(Type.Any(), { contains: { const: 1 } }),
      [2],
      'must contain at least 1 matching item, got [2]',
    ],
    [
      'fewest fields',
      { type: 'object', minProperties: 1 },
      {},
      'must have at least 1 field, got {}',
    ],
    [
      'most fields',
      { type: 'object', maxProperties: 0 },
      { a: 1 },
      'must have at most 0 fields, got {"a":1}',
    ],
    ['not', { not: { type: 'string' } }, 'a', 'must not match the excluded schema, got "a"'],
    [
      'together',
      { dependentRequired: { a: ['b', 'c'] } },
      { a: 1 },
      'must have "b", "c" when it has "a", got {"a":1}',
    ],
    ['names', { propertyNames: { pattern: '^a' } }, { b: 1 }, 'has a name that is not allowed'],
    ['missing', Type.Object({ a: Type.String() }), {}, 'is required'],
    [
      'unknown',
      Type.Object({ inputs: Type.Any() }, closed),
      { inputs: 1, zzz: 1 },
      'is not a known field',
    ],
    [
      'unknown, nearly',
      Type.Object({ inputs: Type.Optional(Type.Any()) }, closed),
      { input: 1 },
      'is not a known field; did you mean "inputs"?',
    ],
    [
      'never',
      Type.Object({ a: Type.Optional(Type.Never()) }),
      { a: 1 },
      'must not match the excluded schema, got 1',
    ],
    [
      'refined',
      Type.Refine(
        Type.String(),
        () => false,
        () => 'must rhyme',
      ),
      'a',
      'must rhyme',
    ],
  ])('describeProblem describes a problem of the kind "%s"', (_, schema, value, message) => {
    expect(describeProblems(schema, value).map((problem) => problem.message)).toEqual([message])
  })

  it('describeProblem shows the start of a long value', () => {
    const [problem] = describeProblems(Type.Integer(), 'x'.repeat(500))
    expect(problem?.message).toMatch(/^must be an integer, got "x{118}…$/)
    expect(problem?.received).toMatch(/^x{119}…$/)
  })
})
