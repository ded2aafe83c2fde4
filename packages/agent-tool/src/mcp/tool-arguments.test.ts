import { describe, expect, it } from 'vitest'

import { toMcpArguments } from './tool-arguments.ts'

const TEXT = { type: 'string' }
const NUMBER = { type: 'number' }

function callWith(input: unknown, schema: object): unknown {
  return toMcpArguments(input, { name: 'tool', inputSchema: { type: 'object', ...schema } })
}

describe('toMcpArguments', () => {
  it.each([
    ['an object unchanged', { a: 1 }, { properties: { b: TEXT }, required: ['b'] }, { a: 1 }],
    [
      'a text as the only required property',
      'x',
      { properties: { a: NUMBER, b: TEXT }, required: ['b'] },
      { b: 'x' },
    ],
    ['a text as the only property', 'x', { properties: { q: TEXT } }, { q: 'x' }],
    ['a text as `input` when the schema has no properties', 'x', {}, { input: 'x' }],
    [
      'a text as `input` when the schema has that property',
      'x',
      { properties: { a: TEXT, input: TEXT } },
      { input: 'x' },
    ],
    ['a number as a number', 5, { properties: { n: NUMBER } }, { n: 5 }],
    ['a number as an integer', 5, { properties: { n: { type: 'integer' } } }, { n: 5 }],
    ['a list as a list', [1], { properties: { l: { type: 'array' } } }, { l: [1] }],
    [
      'a list as text when the schema requires text',
      [1],
      { properties: { t: TEXT } },
      { t: '[1]' },
    ],
    [
      'a text when the schema allows several types',
      'x',
      { properties: { t: { type: ['null', 'string'] } } },
      { t: 'x' },
    ],
    [
      'JSON of an object as the object when there are several properties',
      '{"a":1,"b":2}',
      { properties: { a: NUMBER, b: NUMBER }, required: ['a', 'b'] },
      { a: 1, b: 2 },
    ],
    [
      'JSON of an object as text when the schema requires text',
      '{"a":1}',
      { properties: { t: TEXT } },
      { t: '{"a":1}' },
    ],
    ['null as an empty object when no property is required', null, { properties: { t: TEXT } }, {}],
  ])('toMcpArguments passes %s', (_, input, schema, expected) => {
    expect(callWith(input, schema)).toEqual(expected)
  })

  it.each([
    ['x', { properties: { a: TEXT, b: TEXT }, required: ['a', 'b'] }],
    ['x', { properties: { n: NUMBER } }],
    [null, { properties: { t: TEXT }, required: ['t'] }],
    ['x', { additionalProperties: false }],
  ])(
    'toMcpArguments rejects %j when no property accepts it, and shows the schema',
    (input, schema) => {
      const calling = (): unknown => callWith(input, schema)
      expect(calling).toThrow(
        /^Cannot call MCP tool "tool" with .*must be an object that matches \{"type"/,
      )
      expect(calling).toThrow(expect.objectContaining({ failureType: 'configuration' }))
    },
  )
})
