import { describe, expect, it } from 'vitest'

import { Type } from '@tutti/core'
import { mergeInputs } from './merge-inputs.ts'

const a = Type.Object({ url: Type.String(), days: Type.Integer() })
const b = Type.Object({ url: Type.String(), unit: Type.Optional(Type.String()) })

describe('one input schema for several tools', () => {
  it('is the same object where all say the same', () => {
    expect(mergeInputs([a], 'all')).toBe(a)
    const same = Type.Object({ url: Type.String(), days: Type.Integer() })
    expect(mergeInputs([a, same], 'all')).toEqual(a)
  })

  it('has the properties of all; required is what all need', () => {
    expect(mergeInputs([a, b], 'all')).toEqual({
      type: 'object',
      required: ['url', 'days'],
      properties: { url: Type.String(), days: Type.Integer(), unit: Type.String() },
    })
  })

  it('where one tool is enough, required is what every one needs', () => {
    expect(mergeInputs([a, b], 'one')).toMatchObject({ required: ['url'] })
    const nothing = mergeInputs([a, Type.Object({ unit: Type.String() })], 'one')
    expect(nothing).not.toHaveProperty('required')
  })

  it('a property of which they say different things has to fit all, or one', () => {
    const text = Type.Object({ days: Type.String() })
    const number = Type.Object({ days: Type.Integer() })
    expect(mergeInputs([text, number, text], 'all')).toMatchObject({
      properties: { days: { allOf: [{ type: 'string' }, { type: 'integer' }] } },
    })
    expect(mergeInputs([text, number], 'one')).toMatchObject({
      properties: { days: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    })
  })

  it('says nothing of other fields: tools ignore those they do not know', () => {
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
  ])('names the whole schemas where they cannot be merged: %s', (_, other) => {
    const all = mergeInputs([a, other], 'all')
    expect(all).toMatchObject({ type: 'object', allOf: [a, {}] })
    expect(mergeInputs([a, other], 'one')).toMatchObject({ type: 'object', anyOf: [a, {}] })
  })

  it('references inside go on leading where they led', () => {
    const node = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(mergeInputs([a, node], 'all')).toMatchObject({
      allOf: [a, { properties: { next: { $ref: '#/allOf/1' } } }],
    })
  })

  it('a property may have any name', () => {
    const odd = { type: 'object', properties: JSON.parse('{"__proto__": {"type": "string"}}') }
    const merged = mergeInputs([a, odd], 'all') as { properties: object }
    expect(Object.keys(merged.properties)).toEqual(['url', 'days', '__proto__'])
  })
})
