import { describe, expect, it } from 'vitest'

import { schemaText } from './schema-text.ts'
import { toolInput } from './tool-input.ts'

const SCHEMA = {
  type: 'object',
  required: ['name', 'kind'],
  properties: {
    name: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    deep: { type: 'boolean' },
    kind: { enum: ['a', 'b', 3] },
    only: { const: true },
    tags: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { $ref: '#/$defs/Size' } },
    place: { $ref: '#/$defs/Place' },
    either: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    textOrNumber: { type: ['string', 'number'] },
    anything: {},
  },
  $defs: {
    Size: { type: 'number' },
    Place: {
      type: 'object',
      required: ['x'],
      properties: { x: { type: 'number' }, at: { $ref: '#/$defs/Place' } },
    },
  },
}

describe('toolInput', () => {
  it.each([
    ['name=5', { name: '5' }],
    ['name=', { name: '' }],
    ['name=a=b', { name: 'a=b' }],
    ['count=5', { count: 5 }],
    ['ratio=-0.5', { ratio: -0.5 }],
    ['deep=true', { deep: true }],
    ['kind=b', { kind: 'b' }],
    ['kind=3', { kind: 3 }],
    ['only=true', { only: true }],
    ['tags=5', { tags: ['5'] }],
    ['tags=["x","y"]', { tags: ['x', 'y'] }],
    ['sizes=5', { sizes: [5] }],
    ['place={"x":1}', { place: { x: 1 } }],
    ['either=null', { either: null }],
    ['either=2', { either: 2 }],
    ['textOrNumber=2', { textOrNumber: '2' }],
    ['anything=[1]', { anything: [1] }],
    ['anything=words', { anything: 'words' }],
  ])('toolInput converts %s to the type in the schema', (pair, input) => {
    expect(toolInput([pair], SCHEMA)).toEqual(input)
  })

  it.each(['count=many', 'count=5.5', 'deep=yes', 'place=[1]', 'kind=c', 'only=1'])(
    'toolInput passes %s on as text when it matches no type, so that the server reports the problem',
    (pair) => {
      const [key = '', text] = pair.split('=')
      expect(toolInput([pair], SCHEMA)).toEqual({ [key]: text })
    },
  )

  it('toolInput converts a repeated key to an array', () => {
    expect(toolInput(['tags=a', 'sizes=1', 'tags=b', 'sizes=2'], SCHEMA)).toEqual({
      tags: ['a', 'b'],
      sizes: [1, 2],
    })
    expect(toolInput(['x=1', 'x=2', 'y=z'], {})).toEqual({ x: [1, 2], y: 'z' })
  })

  it('toolInput rejects unknown keys, and arguments that are not key=value', () => {
    expect(() => toolInput(['cuont=5'], SCHEMA)).toThrow('Did you mean "count"?')
    expect(() => toolInput(['__proto__=5'], SCHEMA)).toThrow('Unknown input "__proto__"')
    for (const word of ['five', '=5']) {
      expect(() => toolInput([word], SCHEMA)).toThrow(`Expected key=value, got "${word}"`)
    }
  })
})

describe('schemaText', () => {
  it('schemaText formats a schema in TypeScript syntax', () => {
    expect(schemaText(SCHEMA)).toBe(
      '{ name: string, count?: integer, ratio?: number, deep?: boolean, kind: "a" | "b" | 3, only?: true, ' +
        'tags?: string[], sizes?: number[], place?: { x: number, at?: { … } }, either?: number | null, ' +
        'textOrNumber?: string | number, anything?: any }',
    )
    expect(schemaText({ type: 'object' })).toBe('{}')
    expect(schemaText({ $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } })).toBe('any')
    expect(schemaText({ type: 'array', items: { type: ['string', 'null'] } })).toBe(
      '(string | null)[]',
    )
  })
})
