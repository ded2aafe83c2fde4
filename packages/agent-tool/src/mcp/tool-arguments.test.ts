import { describe, expect, it } from 'vitest'

import { toMcpArguments } from './tool-arguments.ts'

const TEXT = { type: 'string' }
const NUMBER = { type: 'number' }

function argumentsFor(input: unknown, schema: object): unknown {
  return toMcpArguments(input, { name: 'tool', inputSchema: { type: 'object', ...schema } })
}

describe('the arguments of an MCP tool', () => {
  it.each([
    ['an object as it is', { a: 1 }, { properties: { b: TEXT }, required: ['b'] }, { a: 1 }],
    [
      'a text at the only required property',
      'x',
      { properties: { a: NUMBER, b: TEXT }, required: ['b'] },
      { b: 'x' },
    ],
    ['a text at the only property', 'x', { properties: { q: TEXT } }, { q: 'x' }],
    ['a text at `input` where nothing is said', 'x', {}, { input: 'x' }],
    [
      'a text at `input` among others',
      'x',
      { properties: { a: TEXT, input: TEXT } },
      { input: 'x' },
    ],
    ['a number as a number', 5, { properties: { n: NUMBER } }, { n: 5 }],
    ['a number as an integer', 5, { properties: { n: { type: 'integer' } } }, { n: 5 }],
    ['a list as a list', [1], { properties: { l: { type: 'array' } } }, { l: [1] }],
    ['a list as text where text is wanted', [1], { properties: { t: TEXT } }, { t: '[1]' }],
    [
      'a text of one of several types',
      'x',
      { properties: { t: { type: ['null', 'string'] } } },
      { t: 'x' },
    ],
    [
      'JSON of an object where there are several places',
      '{"a":1,"b":2}',
      { properties: { a: NUMBER, b: NUMBER }, required: ['a', 'b'] },
      { a: 1, b: 2 },
    ],
    [
      'JSON of an object as text where text is wanted',
      '{"a":1}',
      { properties: { t: TEXT } },
      { t: '{"a":1}' },
    ],
    ['nothing where nothing is required', null, { properties: { t: TEXT } }, {}],
  ])('are %s', (_, input, schema, expected) => {
    expect(argumentsFor(input, schema)).toEqual(expected)
  })

  it.each([
    ['x', { properties: { a: TEXT, b: TEXT }, required: ['a', 'b'] }],
    ['x', { properties: { n: NUMBER } }],
    [null, { properties: { t: TEXT }, required: ['t'] }],
    ['x', { additionalProperties: false }],
  ])('cannot be %j where it has no place: the failure shows the schema', (input, schema) => {
    const calling = (): unknown => argumentsFor(input, schema)
    expect(calling).toThrow(
      /^Cannot call MCP tool "tool" with .*must be an object that matches \{"type"/,
    )
    expect(calling).toThrow(expect.objectContaining({ failureType: 'configuration' }))
  })
})
