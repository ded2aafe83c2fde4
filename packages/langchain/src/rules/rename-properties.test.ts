import { describe, expect, test } from 'vitest'

import { PROVIDER_RULES } from './provider-rules.ts'
import { renameProperties } from './rename-properties.ts'

const RULE = PROVIDER_RULES['anthropic']?.propertyName

describe('renameProperties', () => {
  test('renameProperties returns a schema with accepted names itself', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, 'b.c-d_e': {} } }
    expect(renameProperties(schema, RULE)).toEqual({ schema, names: new Map() })
    expect(renameProperties(schema, RULE).schema).toBe(schema)
  })

  test('renameProperties renames properties, required names and descriptions', () => {
    const { schema, names } = renameProperties(
      {
        type: 'object',
        properties: {
          'filter[name]': { type: 'string', description: 'Name of the app' },
          $top: { type: 'integer' },
          plain: { type: 'string' },
        },
        required: ['$top', 'plain'],
        dependentRequired: { $top: ['filter[name]'] },
      },
      RULE,
    )
    const [filter = '', top = ''] = [names.get('filter[name]'), names.get('$top')]
    expect(schema).toEqual({
      type: 'object',
      properties: {
        [filter]: { type: 'string', description: 'filter[name]: Name of the app' },
        [top]: { type: 'integer', description: '$top' },
        plain: { type: 'string' },
      },
      required: [top, 'plain'],
      dependentRequired: { [top]: [filter] },
    })
  })

  test('renameProperties renames at any depth, in defaults and in references, and gives a name one replacement', () => {
    const { schema, names } = renameProperties(
      {
        type: 'object',
        properties: {
          list: { type: 'array', items: { anyOf: [{ properties: { 'a b': {} } }] } },
          'a b': { type: 'object', default: { 'a b': 1, c: 2 } },
          other: { $ref: '#/properties/a%20b/properties/x' },
        },
        $defs: { 'a b': { properties: { 'a b': { type: 'null' } } } },
      },
      RULE,
    )
    expect([...names.keys()]).toEqual(['a b'])
    const name = names.get('a b') ?? ''
    expect(schema).toEqual({
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: { anyOf: [{ properties: { [name]: { description: 'a b' } } }] },
        },
        [name]: { type: 'object', default: { [name]: 1, c: 2 }, description: 'a b' },
        other: { $ref: `#/properties/${name}/properties/x` },
      },
      $defs: { 'a b': { properties: { [name]: { type: 'null', description: 'a b' } } } },
    })
  })

  test('renameProperties never uses a name that the schema already has', () => {
    const taken = renameProperties({ properties: { $top: {} } }, RULE).names.get('$top') ?? ''
    const { names } = renameProperties({ properties: { $top: {}, [taken]: {} } }, RULE)
    expect(names.get('$top')).not.toBe(taken)
  })

  test('renameProperties replaces names with lone surrogates for a provider without a rule', () => {
    const { names } = renameProperties({ properties: { 'a\ud800': {}, $top: {} } }, undefined)
    expect([...names.keys()]).toEqual(['a\ud800'])
  })
})
