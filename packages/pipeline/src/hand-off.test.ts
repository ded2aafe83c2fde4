import { describe, expect, it } from 'vitest'

import { defineTool, ToolResult, Type } from '@tutti/core'
import {
  handOff,
  toToolInput,
  parseIfJson,
  toText,
  toValue,
  createValueResult,
} from './hand-off.ts'
import { textTool } from '../test/text-tools.ts'

import type { AgentTool, TSchema } from '@tutti/core'

const text = textTool('text')
const typed = defineTool({
  name: 'typed',
  description: 'Takes an object',
  input: Type.Object({}),
  execute: () => '',
})

function declaring(output: TSchema): AgentTool {
  return { ...typed, name: 'declaring', outputSchema: output }
}

const BROKEN = {
  ok: false,
  message: 'Tool "declaring" returned text instead of the value that it declares as output',
}

describe('[PIPE-H1] handOff', () => {
  it.each<[ToolResult, unknown, unknown]>([
    [ToolResult.success('text', { a: 1 }), 'text', { a: 1 }],
    [ToolResult.success('text'), 'text', 'text'],
    [ToolResult.success('', 0), '', 0],
    [ToolResult.success('null', null), 'null', null],
  ])(
    'handOff passes the text of %j to text tools, and its value to others',
    (result, forText, forTyped) => {
      expect(handOff(result, typed, text)).toEqual({ ok: true, value: forText })
      expect(handOff(result, typed, typed)).toEqual({ ok: true, value: forTyped })
    },
  )
})

describe('[PIPE-H2] text for tools that are not text tools', () => {
  it.each([
    ['{"a": [1]}', { a: [1] }],
    ['\n [1, 2] ', [1, 2]],
    ['[broken', '[broken'],
    ['{"a": 1} and more', '{"a": 1} and more'],
    ['5', '5'],
    ['"quoted"', '"quoted"'],
    ['', ''],
  ])('Text is passed on to tools that are not text tools: %j as %j', (output, value) => {
    expect(handOff(ToolResult.success(output), text, typed)).toEqual({ ok: true, value })
    expect(parseIfJson(output)).toEqual(value)
  })
})

describe('[PIPE-H3] a tool that declares a value and returned text', () => {
  it.each<[string, TSchema]>([
    ['an object', Type.Object({})],
    ['a list', Type.Array(Type.String())],
    ['a number', Type.Number()],
    ['null', Type.Null()],
    ['a union without text', Type.Union([Type.Null(), Type.Object({})])],
    ['an enum without text', { enum: [1, 2] }],
    ['a constant that is no text', { const: 1 }],
    ['an intersection that text cannot match', { allOf: [{ type: 'string' }, { type: 'object' }] }],
    ['types without text', { type: ['object', 'null'] }],
    ['a choice without text', { oneOf: [{ type: 'object' }, false] }],
  ])('A tool that declares a value and returned text fails if the schema is %s', (_, schema) => {
    const result = ToolResult.success('Nothing found')
    expect(toValue(result, declaring(schema))).toEqual(BROKEN)
    expect(handOff(result, declaring(schema), typed)).toEqual(BROKEN)
    expect(handOff(result, declaring(schema), text)).toEqual({ ok: true, value: 'Nothing found' })
  })

  it.each<[string, TSchema]>([
    ['text', Type.String()],
    ['a union with text', Type.Union([Type.Object({}), Type.String()])],
    ['an enum with text', { enum: [1, 'two'] }],
    ['a constant text', { const: 'two' }],
    ['types with text', { type: ['string', 'null'] }],
    ['anything', Type.Unknown()],
    ['a choice with anything', { oneOf: [{ type: 'object' }, true] }],
    ['a reference, which is not followed', { $ref: '#/$defs/page', $defs: { page: {} } }],
    ['something that is no schema', { anyOf: [7] }],
  ])(
    'A tool that declares a value and returned text is accepted if the schema allows text: %s',
    (_, schema) => {
      expect(toValue(ToolResult.success('t'), declaring(schema))).toEqual({ ok: true, value: 't' })
    },
  )
})

describe('toText and toToolInput', () => {
  it.each([
    ['text', 'text'],
    [undefined, ''],
    [null, ''],
    [{ a: 1 }, '{"a":1}'],
    [[1], '[1]'],
    [5, '5'],
    [false, 'false'],
    [() => '', ''],
  ])('toText and toToolInput convert %j to the text %j', (value, expected) => {
    expect(toText(value)).toBe(expected)
    expect(toToolInput(text, value)).toBe(expected)
  })

  it('toText and toToolInput pass values unchanged to other tools', () => {
    const value = { a: 1 }
    expect(toToolInput(typed, value)).toBe(value)
    expect(toToolInput(typed, undefined)).toBe(undefined)
  })

  it('toText and toToolInput create a result with the JSON of a value as text', () => {
    expect(createValueResult({ a: 1 })).toEqual(ToolResult.success('{"a":1}', { a: 1 }))
    expect(createValueResult('a')).toEqual(ToolResult.success('a'))
  })
})
