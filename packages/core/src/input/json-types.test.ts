import { describe, expect, it } from 'vitest'

import { wantsJsonType, allowsJsonType } from './json-types.ts'
import { createSchemaDocument } from './schema-document.ts'

const TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null']

function typesOf(schema: object, test: typeof allowsJsonType): string[] {
  const document = createSchemaDocument(schema)
  return TYPES.filter((type) => test(type, document.locate([document.root]), document))
}

const named: readonly [string, object, string[]][] = [
  ['type', { type: 'string' }, ['string']],
  ['a list of types', { type: ['integer', 'null'] }, ['number', 'null']],
  ['const', { const: [1] }, ['array']],
  ['enum', { enum: ['a', 1, null] }, ['string', 'number', 'null']],
  ['a union', { anyOf: [{ type: 'object' }, { const: true }] }, ['object', 'boolean']],
  ['an exclusive union', { oneOf: [{ type: 'object' }, false] }, ['object']],
  [
    'an intersection',
    { allOf: [{ minimum: 1 }, { type: ['integer', 'string'] }, { type: 'integer' }] },
    ['number'],
  ],
  ['a reference', { $defs: { A: { type: 'array' } }, $ref: '#/$defs/A' }, ['array']],
  [
    'a reference in a union',
    { $defs: { A: { type: 'array' } }, anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] },
    ['array', 'null'],
  ],
]

describe('allowsJsonType and wantsJsonType', () => {
  it.each(named)('allowsJsonType and wantsJsonType take the types from %s', (_, schema, types) => {
    expect(typesOf(schema, allowsJsonType).toSorted()).toEqual(types.toSorted())
    expect(typesOf(schema, wantsJsonType).toSorted()).toEqual(types.toSorted())
  })

  it.each<[string, object]>([
    ['nothing at all', {}],
    ['only bounds', { minimum: 1, maxLength: 2 }],
    ['a union with a member of any type', { anyOf: [{ type: 'string' }, {}] }],
    [
      'a union that refers to itself',
      { $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }] } }, $ref: '#/$defs/A' },
    ],
  ])('allowsJsonType and wantsJsonType allow any type and want none with %s', (_, schema) => {
    expect(typesOf(schema, allowsJsonType)).toEqual(TYPES)
    expect(typesOf(schema, wantsJsonType)).toEqual([])
  })

  it('allowsJsonType and wantsJsonType are resolved separately in each document that contains a part', () => {
    const shared = { anyOf: [{ $ref: '#/$defs/A' }] }
    const schemas = ['string', 'array'].map((type) => ({ $defs: { A: { type } }, allOf: [shared] }))
    expect(schemas.map((schema) => typesOf(schema, wantsJsonType))).toEqual([['string'], ['array']])
  })
})
