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
  ['an object without properties', { type: 'object', additionalProperties: false }],
  ['bounds that OpenAI enforces', object({ a: { type: 'number', minimum: 0, maximum: 5 } })],
  ['arrays with a known item type', object({ a: { type: 'array', items: TEXT, maxItems: 3 } })],
  ['choices', object({ a: { anyOf: [{ type: 'string', const: 'x' }, { type: 'null' }] } })],
  ['nullable text', object({ a: { type: ['string', 'null'] } })],
  ['known formats', object({ a: { type: 'string', format: 'date-time' } })],
  ['definitions', object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: TEXT } })],
]

test.each(STRICT)('[LC-O2] isStrictSchema accepts %s', (_title, schema) => {
  expect(isStrictSchema(schema)).toBe(true)
})

const LOOSE: readonly (readonly [string, object])[] = [
  ['a root that is not an object', { type: 'array', items: TEXT }],
  ['a choice at the root', object({ a: TEXT }, { anyOf: [object({ b: TEXT })] })],
  ['an open object', { type: 'object', properties: { a: TEXT }, required: ['a'] }],
  ['an open nested object', object({ a: { type: 'object', properties: {} } })],
  ['an open object in an array', object({ a: { type: 'array', items: { type: 'object' } } })],
  ['an open object in a choice', object({ a: { anyOf: [TEXT, { type: 'object' }] } })],
  ['an open object in a definition', object({}, { $defs: { A: { type: 'object' } } })],
  ['a nullable open object', object({ a: { type: ['object', 'null'] } })],
  ['an optional property', object({ a: TEXT, b: TEXT }, { required: ['a'] })],
  ['a map', object({ a: { type: 'object', additionalProperties: TEXT } })],
  ['a text length', object({ a: { type: 'string', minLength: 1 } })],
  ['a default', object({ a: { type: 'string', default: '' } })],
  ['an unknown format', object({ a: { type: 'string', format: 'color' } })],
  ['an empty schema', object({ a: {} })],
  ['true as a schema', object({ a: true })],
  ['an array without item type', object({ a: { type: 'array' } })],
  ['allOf', object({ a: { allOf: [TEXT] } })],
  ['more than ten levels', nested(11)],
]

test.each(LOOSE)('[LC-O2] isStrictSchema rejects %s', (_title, schema) => {
  expect(isStrictSchema(schema)).toBe(false)
})

test('[LC-O2] isStrictSchema accepts ten levels', () => {
  expect(isStrictSchema(nested(9))).toBe(true)
})
