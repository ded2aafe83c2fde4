import { describe, expect, test } from 'vitest'

import { toObjectSchema } from './to-object-schema.ts'

const FILE = {
  type: 'object',
  properties: { kind: { const: 'file' }, path: { type: 'string' } },
  required: ['kind', 'path'],
}
const PAGE = {
  type: 'object',
  properties: { kind: { const: 'page' }, url: { type: 'string' } },
  required: ['kind', 'url'],
}

describe('a schema with an object at its root', () => {
  test('A schema with an object at its root is returned unchanged', () => {
    expect(toObjectSchema(FILE)?.schema).toBe(FILE)
  })
})

describe('a choice at the root', () => {
  test.each(['anyOf', 'oneOf'])(
    'A choice at the root becomes an object with the properties of all forms for %s',
    (key) => {
      expect(toObjectSchema({ title: 'Source', [key]: [FILE, PAGE] })).toEqual({
        schema: {
          title: 'Source',
          type: 'object',
          properties: {
            kind: { anyOf: [{ const: 'file' }, { const: 'page' }] },
            path: { type: 'string' },
            url: { type: 'string' },
          },
          required: ['kind'],
        },
        note: 'Give the properties of one of these forms: (kind, path) or (kind, url).',
      })
    },
  )

  test('A choice at the root becomes one object with the required properties of all parts for allOf', () => {
    expect(toObjectSchema({ allOf: [FILE, { type: 'object', properties: { line: {} } }] })).toEqual(
      {
        schema: {
          type: 'object',
          properties: { ...FILE.properties, line: {} },
          required: ['kind', 'path'],
        },
      },
    )
  })

  test('A choice at the root is resolved when nested', () => {
    const { schema } = toObjectSchema({ anyOf: [FILE, { oneOf: [PAGE] }] }) ?? {}
    expect(schema).toMatchObject({ type: 'object', required: ['kind'] })
  })

  test('A choice at the root cannot be converted when a form is not an object', () => {
    expect(toObjectSchema({ anyOf: [FILE, { type: 'string' }] })).toBeUndefined()
  })
})
