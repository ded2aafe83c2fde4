import { describe, expect, test } from 'vitest'

import { findClosedProblem } from '../testing/schema-check.ts'
import { toClosedSchema } from './to-closed-schema.ts'

const TEXT = { type: 'string' }

function object(properties: object, more: object = {}): object {
  return { type: 'object', properties, ...more }
}

describe('toClosedSchema', () => {
  test('[LC-O1] toClosedSchema closes objects at every depth without changing its input', () => {
    const schema = object(
      {
        one: object({ a: TEXT }, { required: ['a'] }),
        many: { type: 'array', items: object({ b: TEXT }) },
        either: { anyOf: [object({ c: TEXT }), { type: 'null' }] },
      },
      { required: ['one'], title: 'All' },
    )
    const before = structuredClone(schema)
    const closed = (properties: object, more: object = {}): object => ({
      ...object(properties, more),
      additionalProperties: false,
    })
    expect(toClosedSchema(schema)).toEqual(
      closed(
        {
          one: closed({ a: TEXT }, { required: ['a'] }),
          many: { type: 'array', items: closed({ b: TEXT }) },
          either: { anyOf: [closed({ c: TEXT }), { type: 'null' }] },
        },
        { required: ['one'], title: 'All' },
      ),
    )
    expect(schema).toEqual(before)
  })

  test('[LC-O1] toClosedSchema moves constraints that Anthropic does not enforce into the description', () => {
    const schema = object({
      age: { type: 'integer', minimum: 0, maximum: 150, description: 'In years' },
      name: { type: 'string', minLength: 1 },
      tags: { type: 'array', items: TEXT, minItems: 2 },
      color: { type: 'string', format: 'color' },
    })
    expect(toClosedSchema(schema)).toMatchObject({
      properties: {
        age: { type: 'integer', description: 'In years\nMust match {"minimum":0,"maximum":150}' },
        name: { type: 'string', description: 'Must match {"minLength":1}' },
        tags: { type: 'array', description: 'Must match {"minItems":2}' },
        color: { type: 'string', description: 'Must match {"format":"color"}' },
      },
    })
  })

  test('[LC-O1] toClosedSchema preserves constraints that Anthropic enforces', () => {
    const properties = {
      kind: { type: 'string', const: 'x' },
      size: { enum: ['s', 'm', null] },
      day: { type: 'string', format: 'date', description: 'A day' },
      some: { type: 'array', items: TEXT, minItems: 1 },
      both: { allOf: [TEXT] },
    }
    expect(toClosedSchema(object(properties))).toMatchObject({ properties })
  })

  test('[LC-O1] toClosedSchema drops annotations and converts oneOf to anyOf', () => {
    const schema = object({ a: { oneOf: [TEXT, { type: 'null' }] } }, { $id: 'A', $schema: 'x' })
    expect(toClosedSchema(schema)).toEqual({
      ...object({ a: { anyOf: [TEXT, { type: 'null' }] } }),
      additionalProperties: false,
    })
  })

  test('[LC-O1] toClosedSchema returns a schema that the service accepts', () => {
    const schema = object({
      n: { type: 'number', exclusiveMinimum: 0, multipleOf: 2 },
      list: { type: 'array', items: object({ t: { ...TEXT, maxLength: 3 } }), maxItems: 4 },
      one: { oneOf: [object({}), TEXT] },
    })
    expect(findClosedProblem(schema)).toBeDefined()
    expect(findClosedProblem(toClosedSchema(schema))).toBeUndefined()
  })
})

const OPEN: readonly (readonly [string, object])[] = [
  ['a root that is not an object', { type: 'array', items: TEXT }],
  ['a choice at the root', { anyOf: [object({})] }],
  ['a map', object({ a: { type: 'object', additionalProperties: TEXT } })],
  ['an object with additional properties', object({}, { additionalProperties: true })],
  ['an object without properties', object({ a: { type: 'object' } })],
  ['pattern properties', object({ a: object({}, { patternProperties: { x: TEXT } }) })],
  ['an empty schema', object({ a: {} })],
  ['true as a schema', object({ a: true })],
  ['an array without item type', object({ a: { type: 'array' } })],
  ['a tuple', object({ a: { type: 'array', items: false, prefixItems: [TEXT] } })],
  ['a reference', object({ a: { $ref: '#' } })],
  ['a map in a choice', object({ a: { anyOf: [TEXT, { type: 'object' }] } })],
  ['a map in an array', object({ a: { type: 'array', items: { type: 'object' } } })],
  ['a map in allOf', object({ a: { allOf: [{ type: 'object' }] } })],
  ['an enum of objects', object({ a: { enum: [{ x: 1 }] } })],
]

test.each(OPEN)('[LC-O3] toClosedSchema returns undefined for %s', (_title, schema) => {
  expect(toClosedSchema(schema)).toBeUndefined()
})

test('[LC-O3] toClosedSchema returns undefined for more optional properties or unions than Anthropic accepts', () => {
  const many = (count: number, value: object, required: boolean): object => {
    const names = Array.from({ length: count }, (_, index) => `p${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, value]))
    return object(properties, { required: required ? names : [] })
  }
  const choice = { anyOf: [TEXT, { type: 'null' }] }
  expect(toClosedSchema(many(24, TEXT, false))).toBeDefined()
  expect(toClosedSchema(many(25, TEXT, false))).toBeUndefined()
  expect(toClosedSchema(many(25, TEXT, true))).toBeDefined()
  expect(toClosedSchema(many(16, choice, true))).toBeDefined()
  expect(toClosedSchema(many(17, choice, true))).toBeUndefined()
  expect(toClosedSchema(many(17, { type: ['string', 'null'] }, true))).toBeUndefined()
})
