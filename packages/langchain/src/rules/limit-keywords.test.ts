import { describe, expect, test } from 'vitest'

import { limitKeywords } from './limit-keywords.ts'
import { PROVIDER_RULES } from './provider-rules.ts'

import type { KeywordRule } from './rule.ts'

const RULE: KeywordRule = PROVIDER_RULES['google']?.keywords ?? fail()

function fail(): never {
  throw new Error('Google has no rule for keywords')
}

const ANY = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'object' }]

const CASES: readonly (readonly [title: string, schema: object, limited: object])[] = [
  ['accepted keywords', { type: 'string', minLength: 1 }, { type: 'string', minLength: 1 }],
  ['a constant', { const: 'a' }, { type: 'string', enum: ['a'] }],
  [
    'a number as a constant',
    { const: 5 },
    { type: 'number', description: 'Must match {"const":5}' },
  ],
  [
    'an enum of numbers',
    { type: 'integer', enum: [1, 2], description: 'Level' },
    { type: 'integer', description: 'Level\nMust match {"enum":[1,2]}' },
  ],
  ['a nullable type', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
  [
    'a choice with null',
    { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'D' },
    { type: 'string', nullable: true, description: 'D' },
  ],
  [
    'a choice',
    { oneOf: [{ const: 'a' }, { type: 'integer' }] },
    { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'integer' }] },
  ],
  [
    'several types',
    { type: ['string', 'integer'], minLength: 2, minimum: 3, description: 'D' },
    {
      anyOf: [
        { type: 'string', minLength: 2, description: 'D' },
        { type: 'integer', minimum: 3 },
      ],
    },
  ],
  [
    'an exclusive bound',
    { type: 'number', exclusiveMinimum: 0 },
    { type: 'number', description: 'Must match {"exclusiveMinimum":0}' },
  ],
  [
    'an unknown format',
    { type: 'string', format: 'email' },
    { type: 'string', description: 'Must match {"format":"email"}' },
  ],
  [
    'a known format',
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date-time' },
  ],
  [
    'a map',
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', description: 'Must match {"additionalProperties":{"type":"number"}}' },
  ],
  [
    'required names without a property',
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'] },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  ],
  ['an array without items', { type: 'array' }, { type: 'array', items: { anyOf: ANY } }],
  ['any value', {}, { anyOf: ANY }],
  ['keywords without a type', { pattern: '^a' }, { type: 'string', pattern: '^a' }],
  [
    'a choice within a choice',
    {
      anyOf: [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, { type: ['boolean', 'null'] }],
      description: 'D',
    },
    {
      anyOf: [
        { type: 'string', description: 'D' },
        { type: 'integer' },
        { type: 'boolean', nullable: true },
      ],
    },
  ],
  [
    'a value that nothing matches',
    { type: 'object', properties: { a: false } },
    {
      type: 'object',
      properties: {
        a: {
          anyOf: [
            { type: 'string', description: 'Must match {"not":{}}' },
            { type: 'number' },
            { type: 'boolean' },
            { type: 'object' },
          ],
        },
      },
    },
  ],
  [
    'parts',
    {
      allOf: [
        { type: 'object', properties: { a: { const: 'x' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'null' } } },
      ],
    },
    {
      type: 'object',
      properties: { a: { type: 'string', enum: ['x'] }, b: { type: 'null' } },
      required: ['a'],
    },
  ],
  [
    'a reference',
    { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { const: 'x' } } },
    { type: 'object', properties: { a: { type: 'string', enum: ['x'] } } },
  ],
  [
    'a recursive reference',
    { type: 'object', properties: { a: { $ref: '#' } } },
    {
      type: 'object',
      properties: {
        a: {
          type: 'object',
          properties: { a: { type: 'object', description: 'Must match {"$ref":"#"}' } },
        },
      },
    },
  ],
]

describe('limitKeywords', () => {
  test.each(CASES)('limitKeywords converts %s', (_, schema, limited) => {
    expect(limitKeywords({ ...schema }, RULE)).toEqual(limited)
  })

  test.each(CASES)(
    'limitKeywords returns a schema that needs no further change for %s',
    (_, schema) => {
      const limited = limitKeywords({ ...schema }, RULE)
      expect(limitKeywords(limited, RULE)).toEqual(limited)
    },
  )

  test('limitKeywords ends for references that refer to each other many times', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => {
        const $ref = `#/$defs/D${index - 1}`
        const properties = index === 0 ? {} : { a: { $ref }, b: { $ref } }
        return [`D${index}`, { type: 'object', properties }]
      }),
    )
    const schema = { type: 'object', properties: { x: { $ref: '#/$defs/D39' } }, $defs }
    expect(JSON.stringify(limitKeywords(schema, RULE)).length).toBeLessThan(100_000)
  })
})
