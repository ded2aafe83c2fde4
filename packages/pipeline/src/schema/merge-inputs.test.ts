import { describe, expect, it } from 'vitest'

import { Type } from '@tutti/core'
import { mergeInputs } from './merge-inputs.ts'

const a = Type.Object({ url: Type.String(), days: Type.Integer() })
const b = Type.Object({ url: Type.String(), unit: Type.Optional(Type.String()) })

describe('mergeInputs', () => {
  it('mergeInputs returns the same object for equal schemas', () => {
    expect(mergeInputs([a], 'all')).toBe(a)
    const same = Type.Object({ url: Type.String(), days: Type.Integer() })
    expect(mergeInputs([a, same], 'all')).toEqual(a)
  })

  it('mergeInputs merges the properties, and requires those that any tool requires in the mode "all"', () => {
    expect(mergeInputs([a, b], 'all')).toEqual({
      type: 'object',
      required: ['url', 'days'],
      properties: { url: Type.String(), days: Type.Integer(), unit: Type.String() },
    })
  })

  it('mergeInputs requires only the common properties in the mode "one"', () => {
    expect(mergeInputs([a, b], 'one')).toMatchObject({ required: ['url'] })
    const nothing = mergeInputs([a, Type.Object({ unit: Type.String() })], 'one')
    expect(nothing).not.toHaveProperty('required')
  })

  it('mergeInputs combines different schemas of a property by allOf or anyOf', () => {
    const text = Type.Object({ days: Type.String() })
    const number = Type.Object({ days: Type.Integer() })
    expect(mergeInputs([text, number, text], 'all')).toMatchObject({
      properties: { days: { allOf: [{ type: 'string' }, { type: 'integer' }] } },
    })
    expect(mergeInputs([text, number], 'one')).toMatchObject({
      properties: { days: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    })
  })

  it('mergeInputs drops additionalProperties, since tools ignore unknown fields', () => {
    const strict = { type: 'object', properties: {}, additionalProperties: false, title: 'Strict' }
    expect(mergeInputs([strict, b], 'all')).toEqual({
      type: 'object',
      required: ['url'],
      properties: { url: Type.String(), unit: Type.String() },
    })
  })

  it.each<[string, object]>([
    ['a union', { anyOf: [a, b] }],
    ['definitions', { type: 'object', properties: { next: { $ref: '#' } } }],
    ['open fields of a kind', { type: 'object', additionalProperties: { type: 'number' } }],
    ['another keyword', { type: 'object', minProperties: 1 }],
  ])('mergeInputs combines complete schemas that cannot be merged: %s', (_, other) => {
    const all = mergeInputs([a, other], 'all')
    expect(all).toMatchObject({ type: 'object', allOf: [a, {}] })
    expect(mergeInputs([a, other], 'one')).toMatchObject({ type: 'object', anyOf: [a, {}] })
  })

  it('mergeInputs adjusts references in the schemas', () => {
    const node = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(mergeInputs([a, node], 'all')).toMatchObject({
      allOf: [a, { properties: { next: { $ref: '#/allOf/1' } } }],
    })
  })

  it('mergeInputs supports any name of a property', () => {
    const odd = { type: 'object', properties: JSON.parse('{"__proto__": {"type": "string"}}') }
    const merged = mergeInputs([a, odd], 'all') as { properties: object }
    expect(Object.keys(merged.properties)).toEqual(['url', 'days', '__proto__'])
  })
})
