import { describe, expect, it } from 'vitest'

import {
  embedNamedSchema,
  toInputSchema,
  toOutputSchema,
  toStructuredContent,
} from './object-schema.ts'

const ID = 'urn:test'

describe('inputSchemaOf', () => {
  it('says of a choice of objects that it is an object', () => {
    const choice = { anyOf: [{ required: ['a'] }, { required: ['b'] }] }
    expect(toInputSchema(choice)).toEqual({ ...choice, type: 'object' })
  })

  it('leaves everything else as its author wrote it, and drops what is no JSON', () => {
    const schema = { $schema: 'x', type: 'object', $defs: { a: {} }, additionalProperties: false }
    expect(toInputSchema({ ...schema, [Symbol('kind')]: 1, check: () => true })).toEqual(schema)
  })
})

describe('inputSchemaOf of a tool without parameters', () => {
  it.each([
    [{}],
    [{ type: 'object' }],
    [{ type: 'object', properties: {}, description: 'Nothing' }],
  ])('forbids parameters for %j', (schema) => {
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
  ])('changes nothing when the schema allows some: %j', (schema) => {
    expect(toInputSchema(schema)).toEqual(schema)
  })
})

describe('outputSchemaOf', () => {
  it('leaves a schema of objects as it is', () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } }
    expect(toOutputSchema(schema, ID)).toEqual(schema)
  })

  it.each([
    [{ type: 'string' }],
    [{ type: ['object', 'null'] }],
    [{ anyOf: [{ type: 'object' }] }],
  ])('wraps %j, whose values may be none', (schema) => {
    expect(toOutputSchema(schema, ID)).toEqual({
      type: 'object',
      properties: { result: schema },
      required: ['result'],
    })
  })
})

describe('embedded', () => {
  it('names a schema that refers to itself, so that its references go on to mean it', () => {
    const tree = { type: 'array', items: { $ref: '#' } }
    expect(embedNamedSchema(tree, ID)).toEqual({ $id: ID, ...tree })
    expect(embedNamedSchema({ ...tree, $id: 'own' }, ID)).toEqual({ ...tree, $id: 'own' })
    expect(embedNamedSchema({ type: 'array' }, ID)).toEqual({ type: 'array' })
  })
})

describe('structuredContentOf', () => {
  it('wraps what its schema is wrapped for, also an object', () => {
    expect(toStructuredContent({ a: 1 }, { anyOf: [] })).toEqual({ result: { a: 1 } })
    expect(toStructuredContent([1], { type: 'array' })).toEqual({ result: [1] })
    expect(toStructuredContent({ a: 1 }, { type: 'object' })).toEqual({ a: 1 })
  })

  it('wraps without a schema what is no object', () => {
    expect(toStructuredContent({ a: 1 }, undefined)).toEqual({ a: 1 })
    for (const value of [[1], 'a', 1, null, true]) {
      expect(toStructuredContent(value, undefined)).toEqual({ result: value })
    }
  })
})
