import { readdirSync, readFileSync } from 'node:fs'

import { describe, expect, it, vi } from 'vitest'

import * as api from '../index.ts'
import * as internal from '../internal.ts'
import { createEvaluator } from './evaluator.ts'
import { compileCheck } from '../compiled-check.ts'
import { Check } from 'typebox/schema'

import { CheckRun } from './check-run.ts'

const NUMBERS = [0, -0, 1, 1.5, -3, Number.NaN, Infinity, 1n]

const LISTS = [[], [1], [1, 1], ['a'], [undefined], [[]]]

const VALUES = [
  ...NUMBERS,
  ...LISTS,
  undefined,
  null,
  true,
  false,
  '',
  'a',
  'abc',
  '2026-01-01T00:00:00.000Z',
  {},
  { a: 1 },
  { a: 'x' },
  { a: undefined },
  { a: 1, b: 2 },
  { a: { a: 1 } },
  Object.create(null),
  new Date(0),
  new Map(),
  () => 1,
]

const SCHEMAS = [
  ...['number', 'integer', 'object', 'array', 'null', 'string', 'boolean'].map((type) => ({
    type,
  })),
  { type: ['string', 'null'] },
  ...[0, 'a', null, true, {}, [1]].map((value) => ({ const: value })),
  ...[[], [0, 'a'], ['a', null], [{ a: 1 }]].map((values) => ({ enum: values })),
  { properties: { a: { type: 'number' } } },
  { properties: { a: { type: 'number' } }, required: ['a'] },
  { required: ['a', 'b'] },
  { additionalProperties: false },
  { properties: { a: {} }, additionalProperties: false },
  { properties: { a: true, b: false }, additionalProperties: { type: 'string' } },
  { items: { type: 'integer' } },
  { items: false },
  { type: 'array', items: { type: 'integer' }, minItems: 1, uniqueItems: true },
  { anyOf: [] },
  { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] },
  { allOf: [{ required: ['a'] }, { properties: { a: { type: 'integer', minimum: 1 } } }] },
  { oneOf: [{ type: 'integer' }, { type: 'number' }] },
  { not: { type: 'string' } },
  JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"type":"object"}}'),
  { type: 'string', pattern: '^a', maxLength: 2 },
  { type: 'string', format: 'date-time' },
  { format: 'date' },
  { format: 'no-such-format' },
  { minimum: 1 },
  { maximum: 1, minimum: -3 },
  { type: 'integer', minimum: 0 },
  { minProperties: 2, title: 'Two', description: 'Two fields', default: {} },
  { properties: { a: { anyOf: [{ type: 'number' }, { properties: { a: { const: 1 } } }] } } },
  {},
]

/** Returns the check of a schema with stored results, for one value each. */
function checkOf(schema: object): (value: unknown) => boolean {
  const evaluator = createEvaluator(schema, { remember: true })
  return (value) => evaluator.fits(schema, value, new CheckRun())
}

describe('createEvaluator', () => {
  it.each(SCHEMAS.map((schema) => [JSON.stringify(schema), schema] as const))(
    '[PROTO-C1] createEvaluator agrees with TypeBox on every value: %s',
    (_, schema) => {
      const check = checkOf(schema)
      for (const value of VALUES) expect(check(value)).toBe(Check({}, schema, value))
    },
  )

  it('[PROTO-C1] createEvaluator agrees with TypeBox on every fixture of the wire', () => {
    const schemas = Object.entries({ ...api, ...internal }).flatMap(([name, schema]) =>
      /^[A-Z][a-z]/.test(name) && typeof schema === 'object' ? [{ name, schema }] : [],
    )
    let made = 0
    for (const { name, schema } of schemas) {
      const check = checkOf(schema)
      for (const value of fixturesOf(name)) {
        expect(check(value)).toBe(Check({}, schema, value))
        made += 1
      }
    }
    expect(made).toBeGreaterThan(300)
  })

  it('createEvaluator ignores inherited fields', () => {
    const check = checkOf({ properties: { a: { type: 'number' } } })
    expect(check(Object.create({ a: 'x' }))).toBe(true)
  })

  it('createEvaluator is used in a page, where code cannot be generated', () => {
    vi.stubGlobal('document', {})
    const spy = vi.spyOn(globalThis, 'Function')
    try {
      const whole = compileCheck({ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } })
      const event = compileCheck({
        type: 'object',
        required: ['a'],
        properties: { a: { const: 1 } },
      })
      expect([whole('x'), whole(1), event({ a: 1 }), event({ a: 2 })]).toEqual([
        true,
        false,
        true,
        false,
      ])
      expect(spy).not.toHaveBeenCalled()
    } finally {
      spy.mockRestore()
      vi.unstubAllGlobals()
    }
  })
})

/** Returns the fixtures of a schema, valid and invalid. */
function fixturesOf(name: string): readonly unknown[] {
  return ['valid', 'invalid'].flatMap((kind) => {
    const folder = new URL(`../../fixtures/${kind}/`, import.meta.url)
    return readdirSync(folder)
      .filter((file) => file.startsWith(`${name}.`))
      .map((file): unknown => JSON.parse(readFileSync(new URL(file, folder), 'utf8')))
  })
}
