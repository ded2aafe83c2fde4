import { describe, expect, it } from 'vitest'

import { embedSchema } from './embed-schema.ts'

const PLACE = ['properties', 'page']

describe('embedSchema', () => {
  it('embedSchema returns the same object if it has no reference to its root', () => {
    const schema = {
      type: 'object',
      properties: { a: { anyOf: [{ $ref: 'https://example.com/a' }, { $ref: '#anchor' }] } },
    }
    expect(embedSchema(schema, PLACE)).toBe(schema)
  })

  it('embedSchema prepends the path to references to the root', () => {
    expect(
      embedSchema(
        { $ref: '#/$defs/node', $defs: { node: { items: { $ref: '#/$defs/node' } } } },
        PLACE,
      ),
    ).toEqual({
      $ref: '#/properties/page/$defs/node',
      $defs: { node: { items: { $ref: '#/properties/page/$defs/node' } } },
    })
    expect(embedSchema({ items: { $ref: '#' } }, PLACE)).toEqual({
      items: { $ref: '#/properties/page' },
    })
  })

  it.each([
    ['additionalProperties', { $ref: '#/x' }],
    ['allOf', [{}, { $ref: '#/x' }]],
    ['anyOf', [{ $ref: '#/x' }]],
    ['oneOf', [{ $ref: '#/x' }]],
    ['prefixItems', [{ $ref: '#/x' }]],
    ['contains', { $ref: '#/x' }],
    ['if', { $ref: '#/x' }],
    ['then', { $ref: '#/x' }],
    ['else', { $ref: '#/x' }],
    ['not', { not: { $ref: '#/x' } }],
    ['propertyNames', { $ref: '#/x' }],
    ['unevaluatedItems', { $ref: '#/x' }],
    ['unevaluatedProperties', { $ref: '#/x' }],
    ['contentSchema', { $ref: '#/x' }],
    ['properties', { $ref: { $ref: '#/x' } }],
    ['patternProperties', { '^a': { $ref: '#/x' } }],
    ['dependentSchemas', { a: { $ref: '#/x' } }],
    ['definitions', { a: { $ref: '#/x' } }],
  ])('embedSchema adjusts references in the keyword %s', (keyword, held) => {
    const moved = JSON.parse(JSON.stringify(held).replaceAll('"#/x"', '"#/properties/page/x"'))
    expect(embedSchema({ [keyword]: held }, PLACE)).toEqual({ [keyword]: moved })
  })

  it.each(['const', 'default', 'enum', 'examples', 'description'])(
    'embedSchema does not change values of the keyword %s',
    (keyword) => {
      const schema = { [keyword]: [{ $ref: '#/x' }] }
      expect(embedSchema(schema, PLACE)).toBe(schema)
    },
  )

  it('embedSchema does not change references inside a schema with an $id', () => {
    const schema = { $defs: { a: { $id: 'https://example.com/a', items: { $ref: '#/x' } } } }
    expect(embedSchema(schema, PLACE)).toBe(schema)
  })

  it('embedSchema does not modify the given schema', () => {
    const schema = { items: { $ref: '#' } }
    embedSchema(schema, PLACE)
    expect(schema).toEqual({ items: { $ref: '#' } })
  })

  it('embedSchema encodes keys as in a JSON pointer', () => {
    expect(embedSchema({ $ref: '#' }, ['properties', 'a/b~c d'])).toEqual({
      $ref: '#/properties/a~1b~0c%20d',
    })
  })
})
