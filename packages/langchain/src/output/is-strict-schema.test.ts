import { expect, test } from 'vitest'

import { isStrictSchema } from './is-strict-schema.ts'

const TEXT = { type: 'string' }

function object(properties: object, more: object = {}): object {
  const required = Object.keys(properties)
  return { type: 'object', properties, required, additionalProperties: false, ...more }
}

function nested(levels: number): object {
  return levels === 0 ? object({ a: TEXT }) : object({ a: nested(levels - 1) })
}

const STRICT: readonly (readonly [string, object])[] = [
  ['closed objects with all properties required', object({ a: TEXT, b: object({ c: TEXT }) })],
  ['an object of no properties', { type: 'object', additionalProperties: false }],
  ['bounds that OpenAI enforces', object({ a: { type: 'number', minimum: 0, maximum: 5 } })],
  ['arrays of a known kind', object({ a: { type: 'array', items: TEXT, maxItems: 3 } })],
  ['choices', object({ a: { anyOf: [{ type: 'string', const: 'x' }, { type: 'null' }] } })],
  ['texts or nothing', object({ a: { type: ['string', 'null'] } })],
  ['known formats', object({ a: { type: 'string', format: 'date-time' } })],
  ['definitions', object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: TEXT } })],
]

test.each(STRICT)('[O2] %s can be enforced', (_what, schema) => {
  expect(isStrictSchema(schema)).toBe(true)
})

const LOOSE: readonly (readonly [string, object])[] = [
  ['no object at the root', { type: 'array', items: TEXT }],
  ['a choice at the root', object({ a: TEXT }, { anyOf: [object({ b: TEXT })] })],
  ['an open object', { type: 'object', properties: { a: TEXT }, required: ['a'] }],
  ['an open object within', object({ a: { type: 'object', properties: {} } })],
  ['an open object in an array', object({ a: { type: 'array', items: { type: 'object' } } })],
  ['an open object in a choice', object({ a: { anyOf: [TEXT, { type: 'object' }] } })],
  ['an open object in a definition', object({}, { $defs: { A: { type: 'object' } } })],
  ['an open object or nothing', object({ a: { type: ['object', 'null'] } })],
  ['a property that may be left out', object({ a: TEXT, b: TEXT }, { required: ['a'] })],
  ['a map', object({ a: { type: 'object', additionalProperties: TEXT } })],
  ['a length of a text', object({ a: { type: 'string', minLength: 1 } })],
  ['a default', object({ a: { type: 'string', default: '' } })],
  ['an unknown format', object({ a: { type: 'string', format: 'color' } })],
  ['anything', object({ a: {} })],
  ['true as a schema', object({ a: true })],
  ['an array of anything', object({ a: { type: 'array' } })],
  ['parts of a whole', object({ a: { allOf: [TEXT] } })],
  ['more than ten levels', nested(11)],
]

test.each(LOOSE)('[O2] %s cannot be enforced', (_what, schema) => {
  expect(isStrictSchema(schema)).toBe(false)
})

test('[O2] ten levels can be enforced', () => {
  expect(isStrictSchema(nested(9))).toBe(true)
})
