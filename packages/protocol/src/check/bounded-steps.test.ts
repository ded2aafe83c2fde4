/** Checks and descriptions of any value by any schema take a bounded number of steps, and have the right verdict. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { compileCheck } from '../compiled-check.ts'
import { decode } from '../decode.ts'
import { describeProblems } from '../problems/describe-problems.ts'
import { CheckLimitError, CheckRun, MAX_CHECK_STEPS } from './check-run.ts'
import { createEvaluator } from './evaluator.ts'
import { isBounded } from './cost.ts'

type Json = Readonly<Record<string, unknown>>

/** Definitions in which each level has two objects with the level below in the same field. */
function nestedUnions(levels: number): Json {
  const $defs: Record<string, unknown> = {
    D0: { type: 'object', properties: { v: { type: 'string' } }, required: ['v'] },
  }
  for (let level = 1; level <= levels; level += 1) {
    const a = { $ref: `#/$defs/D${level - 1}` }
    const members = [{ p: { type: 'string' } }, { q: { type: 'number' } }]
    $defs[`D${level}`] = {
      anyOf: members.map((more) => ({
        type: 'object',
        properties: { a, ...more },
        required: ['a'],
      })),
    }
  }
  return { $ref: `#/$defs/D${levels}`, $defs }
}

function nest(levels: number, inner: unknown): unknown {
  return levels === 0 ? inner : nest(levels - 1, { a: inner, z: 1 })
}

/** Definitions that contain the one below twice, at the same location. */
function doubled(levels: number, combine: (part: Json) => Json): Json {
  const $defs: Record<string, unknown> = { D0: { type: 'string' } }
  for (let level = 1; level <= levels; level += 1) {
    $defs[`D${level}`] = combine({ $ref: `#/$defs/D${level - 1}` })
  }
  return { $ref: `#/$defs/D${levels}`, $defs }
}

const eight = {
  $defs: {
    n: {
      anyOf: Array.from({ length: 8 }, (_, index) => ({
        properties: { a: { $ref: '#/$defs/n' }, b: { const: index } },
        required: ['b'],
      })),
    },
  },
  $ref: '#/$defs/n',
}

const SLOW: readonly (readonly [string, Json, unknown])[] = [
  ['nested unions, 16 levels', nestedUnions(16), nest(16, { w: 1 })],
  ['nested unions, 60 levels', nestedUnions(60), nest(60, { w: 1 })],
  ['nested unions, valid', nestedUnions(60), nest(60, { v: 'x' })],
  ['a recursive union', eight, nest(100, { b: 'x' })],
  ['anyOf', doubled(40, (part) => ({ anyOf: [part, part] })), 1],
  ['oneOf', doubled(40, (part) => ({ oneOf: [part, { not: part }] })), 1],
  ['allOf', doubled(40, (part) => ({ allOf: [part, part] })), 'x'],
  ['not', doubled(40, (part) => ({ not: { anyOf: [part, { not: part }] } })), 'x'],
  ['contains', doubled(40, (part) => ({ contains: part, items: part })), [[['x']]]],
  ['uniqueItems', { uniqueItems: true }, Array.from({ length: 20_000 }, (_, index) => [index])],
  ['a large enum', { enum: Array.from({ length: 100_000 }, (_, index) => `v${index}`) }, 'x'],
]

describe('a check', () => {
  it.each(SLOW)('[PROTO-C2][PROTO-C3] A schema check takes few steps: %s', (_, schema, value) => {
    const run = new CheckRun()
    createEvaluator(schema, { remember: true }).fits(schema, value, run)
    expect(run.steps).toBeLessThan(200_000)
  })

  it.each(SLOW)(
    '[PROTO-P4] A schema check takes few steps to describe the problems: %s',
    (_, schema, value) => {
      const run = new CheckRun()
      describeProblems(schema, value, { run })
      expect(run.steps).toBeLessThan(500_000)
    },
  )

  it('[PROTO-C2][PROTO-D4] A schema check refuses a value that needs more steps, with that reason', () => {
    const items = {
      anyOf: Array.from({ length: 300 }, (_, index) => ({ required: [`k${index}`] })),
    }
    const value = Array.from({ length: 20_000 }, () => ({}))
    expect(() => compileCheck({ items: { items } })([value])).not.toThrow()
    const many = Array.from({ length: 20_000 }, () => ({ k299: 1 }))
    expect(() => compileCheck({ items })(many)).toThrow(CheckLimitError)
    expect(decode({ items }, many)).toEqual({
      ok: false,
      problems: [
        {
          path: '',
          message: `cannot be checked: the check needs more than ${MAX_CHECK_STEPS} steps`,
        },
      ],
    })
  })

  it.each([
    ['an enum', { enum: Array.from({ length: 2_000 }, (_, index) => `v${index}`) }, 'v1999', 'x'],
    [
      'literals',
      { anyOf: Array.from({ length: 4_000 }, (_, index) => ({ const: `v${index}` })) },
      'v3999',
      'x',
    ],
    [
      'fields',
      {
        properties: Object.fromEntries(
          Array.from({ length: 4_000 }, (_, index) => [`p${index}`, { type: 'integer' }]),
        ),
      },
      { p3999: 1 },
      { p3999: 'x' },
    ],
    [
      'nested schemas',
      Array.from({ length: 1_000 }).reduce<Json>((inner) => ({ allOf: [inner] }), {
        type: 'string',
      }),
      'x',
      1,
    ],
  ])('[PROTO-C5] A schema check works with many %s', (_, schema, valid, invalid) => {
    expect([valid, invalid].map((value) => compileCheck(schema)(value))).toEqual([true, false])
  })
})

describe('isBounded', () => {
  it.each<[string, Json, boolean]>([
    ['a list', { items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, true],
    ['a recursive list', { properties: { next: { $ref: '#' }, n: {} } }, true],
    ['a tree', { properties: { left: { $ref: '#' }, right: { $ref: '#' } } }, true],
    ['a nullable reference', { properties: { next: { anyOf: [{ $ref: '#' }, {}] } } }, true],
    [
      'any JSON value',
      { anyOf: [{ items: { $ref: '#' } }, { additionalProperties: { $ref: '#' } }, {}] },
      true,
    ],
    ['two members with one field', eight, false],
    ['nested unions', nestedUnions(16), false],
    ['nested unions of few levels', nestedUnions(2), true],
    ['a large enum', { enum: Array.from({ length: 2_000 }, (_, index) => index) }, false],
    ['parts that evaluate', { unevaluatedProperties: false }, false],
  ])('[PROTO-B1][PROTO-B2] isBounded judges %s', (_, schema, expected) => {
    expect(isBounded(schema, {})).toBe(expected)
  })
})

/** Generates schemas with unions, references to three definitions, enums and patterns. */
const leaf = fc.constantFrom<Json>(
  {},
  { type: 'string' },
  { type: 'integer' },
  { type: 'null' },
  { const: 1 },
  { enum: ['a', null, 2] },
  { type: 'string', pattern: '^a' },
  { minimum: 1, maximum: 5 },
  { minLength: 2 },
  { required: ['a'] },
  { maxProperties: 1 },
  { uniqueItems: true, minItems: 1 },
)
const schemas = fc.letrec<{ schema: Json }>((tie) => {
  const part = tie('schema')
  const inside = fc.constantFrom<Json>(
    { $ref: '#/$defs/A' },
    { $ref: '#/$defs/B' },
    { type: 'boolean' },
  )
  return {
    schema: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.record({ anyOf: fc.array(part, { minLength: 1, maxLength: 3 }) }),
      fc.record({ oneOf: fc.array(part, { minLength: 1, maxLength: 3 }) }),
      fc.record({ allOf: fc.array(part, { minLength: 1, maxLength: 2 }) }),
      fc.record({ not: part }),
      fc.record({ if: part, else: part }),
      fc.record({ properties: fc.record({ a: fc.oneof(inside, part), b: part }) }),
      fc.record({
        additionalProperties: fc.oneof(inside, part),
        properties: fc.record({ a: part }),
      }),
      fc.record({ patternProperties: fc.record({ '^a': part }), unevaluatedProperties: part }),
      fc.record({ items: fc.oneof(inside, part) }),
      fc.record({ prefixItems: fc.tuple(part), items: part }),
      fc.record({ contains: part }),
      fc.record({ dependentSchemas: fc.record({ a: part }) }),
      fc.record({ allOf: fc.tuple(part), unevaluatedProperties: fc.constant(false) }),
      fc.record({ propertyNames: fc.constant({ maxLength: 1 }) }),
    ),
  }
}).schema
const documents = fc
  .tuple(schemas, schemas, schemas)
  .map(([root, A, B]): Json => ({ ...root, $defs: { A, B } }))
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>('a', 'ab', 'b', 1, 2, 7, 1.5, null, true, [], {}),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'ab'), tie('value'), {
      maxKeys: 3,
      // Ajv compares values by their method `valueOf`.
      noNullPrototype: true,
    }),
  ),
})).value

describe('generated schemas and values', () => {
  it('[PROTO-C1][PROTO-C2] Generated schemas and values have the verdict of Ajv, in few steps', () => {
    fc.assert(
      fc.property(documents, values, (schema, value) => {
        const ajv = new Ajv2020({ strict: false })
        const expected = ajv.validate(schema, value)
        for (const remember of [true, false]) {
          const run = new CheckRun()
          expect(createEvaluator(schema, { remember }).fits(schema, value, run)).toBe(expected)
          expect(run.steps).toBeLessThan(20_000)
        }
        expect(compileCheck(schema)(value)).toBe(expected)
      }),
      { numRuns: 200 },
    )
  })

  it('[PROTO-P1][PROTO-P4] Generated schemas and values have problems exactly when they do not match, in few steps', () => {
    fc.assert(
      fc.property(documents, values, (schema, value) => {
        const run = new CheckRun()
        const problems = describeProblems(schema, value, { run })
        const isValid = createEvaluator(schema, { remember: true }).fits(
          schema,
          value,
          new CheckRun(),
        )
        if (isValid) expect(problems).toEqual([])
        expect(decode(schema, value).ok).toBe(isValid)
        expect(run.steps).toBeLessThan(100_000)
      }),
      { numRuns: 200 },
    )
  })
})

/** Returns a list of equal schemas. */
function repeat(length: number, schema: Json): readonly Json[] {
  return Array.from({ length }, () => ({ ...schema }))
}

describe('generated code', () => {
  it.each<readonly [string, Json, boolean]>([
    ['two patterns of names', { patternProperties: { '^a': {}, '^b': {} } }, true],
    ['three patterns of names', { patternProperties: { '^a': {}, '^b': {}, '^c': {} } }, false],
    ['a list of different items', { uniqueItems: true }, true],
    ['many comparisons of items', { allOf: repeat(5, { uniqueItems: true }) }, false],
    ['closed objects', { anyOf: repeat(20, { additionalProperties: false }) }, true],
    ['many closed objects', { anyOf: repeat(40, { additionalProperties: false }) }, false],
    ['many counts of fields', { anyOf: repeat(40, { minProperties: 5 }) }, false],
    ['many open objects', { anyOf: repeat(40, { additionalProperties: true }) }, true],
  ])(
    'Generated code is used only where each entry of a value takes little time: %s',
    (_, schema, isUsed) => {
      expect(isBounded(schema, {})).toBe(isUsed)
    },
  )
})

describe('an evaluator', () => {
  it('[PROTO-C2] An evaluator counts the names that it reads, and the fields that it stores as evaluated', () => {
    const value = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 1]))
    const countSteps = (schema: Json): number => {
      const run = new CheckRun()
      createEvaluator(schema, { remember: false }).fits(schema, value, run)
      return run.steps
    }
    expect(countSteps({ minProperties: 1 })).toBeGreaterThanOrEqual(1_000)
    const all = { allOf: repeat(10, { additionalProperties: true }) }
    expect(countSteps({ ...all, unevaluatedProperties: false })).toBeGreaterThanOrEqual(20_000)
  })

  it('[PROTO-C2] An evaluator counts the search for the scope of a schema with ids', () => {
    const schema = {
      $id: 'https://example.com/a',
      $defs: { b: { $id: 'b', type: 'integer' } },
      items: { $ref: 'b' },
    }
    const run = new CheckRun()
    const problems = describeProblems(schema, Array(25_000).fill('x'), { run })
    expect(problems.at(-1)?.message).toMatch(/^(?:cannot be checked completely|has more problems)/)
    expect(run.steps).toBeLessThanOrEqual(MAX_CHECK_STEPS + 1_000)
  })
})
