import { describe, expect, it } from 'vitest'

import {
  embedNamedSchema,
  toInputSchema,
  toOutputSchema,
  toStructuredContent,
} from './object-schema.ts'

const ID = 'urn:test'

describe('toInputSchema', () => {
  it('toInputSchema adds the type object to a union of objects', () => {
    const choice = { anyOf: [{ required: ['a'] }, { required: ['b'] }] }
    expect(toInputSchema(choice)).toEqual({ ...choice, type: 'object' })
  })

  it('toInputSchema leaves everything else unchanged, and drops values that are not JSON', () => {
    const schema = { $schema: 'x', type: 'object', $defs: { a: {} }, additionalProperties: false }
    expect(toInputSchema({ ...schema, [Symbol('kind')]: 1, check: () => true })).toEqual(schema)
  })
})

describe('toInputSchema for a tool without parameters', () => {
  it.each([
    [{}],
    [{ type: 'object' }],
    [{ type: 'object', properties: {}, description: 'Nothing' }],
  ])('toInputSchema for a tool without parameters forbids parameters for %j', (schema) => {
    expect(toInputSchema(schema)).toEqual({
      ...schema,
      type: 'object',
      additionalProperties: false,
    })
  })

  it.each([
    [{ type: 'object', additionalProperties: { type: 'string' } }],
    [{ type: 'object', patternProperties: { '^x-': {} } }],
    [{ type: 'object', properties: { a: {} } }],
    [{ type: 'object', $ref: '#/$defs/a', $defs: { a: {} } }],
  ])(
    'toInputSchema for a tool without parameters leaves the schema unchanged if it allows parameters: %j',
    (schema) => {
      expect(toInputSchema(schema)).toEqual(schema)
    },
  )
})

describe('toOutputSchema', () => {
  it('toOutputSchema leaves a schema of objects unchanged', () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } }
    expect(toOutputSchema(schema, ID)).toEqual(schema)
  })

  it.each([
    [{ type: 'string' }],
    [{ type: ['object', 'null'] }],
    [{ anyOf: [{ type: 'object' }] }],
  ])('toOutputSchema wraps %j, which also allows other values than objects', (schema) => {
    expect(toOutputSchema(schema, ID)).toEqual({
      type: 'object',
      properties: { result: schema },
      required: ['result'],
    })
  })
})

describe('embedNamedSchema', () => {
  it('embedNamedSchema adds an $id to a schema that refers to itself, so that its references stay valid', () => {
    const tree = { type: 'array', items: { $ref: '#' } }
    expect(embedNamedSchema(tree, ID)).toEqual({ $id: ID, ...tree })
    expect(embedNamedSchema({ ...tree, $id: 'own' }, ID)).toEqual({ ...tree, $id: 'own' })
    expect(embedNamedSchema({ type: 'array' }, ID)).toEqual({ type: 'array' })
  })
})

describe('toStructuredContent', () => {
  it('toStructuredContent wraps each value of a wrapped schema, also an object', () => {
    expect(toStructuredContent({ a: 1 }, { anyOf: [] })).toEqual({ result: { a: 1 } })
    expect(toStructuredContent([1], { type: 'array' })).toEqual({ result: [1] })
    expect(toStructuredContent({ a: 1 }, { type: 'object' })).toEqual({ a: 1 })
  })

  it('toStructuredContent wraps a value without a schema if it is not an object', () => {
    expect(toStructuredContent({ a: 1 }, undefined)).toEqual({ a: 1 })
    for (const value of [[1], 'a', 1, null, true]) {
      expect(toStructuredContent(value, undefined)).toEqual({ result: value })
    }
  })
})
