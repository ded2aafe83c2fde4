import { describe, expect, it } from 'vitest'

import { coerceText } from './coercions.ts'

const any = (): boolean => true

describe('coerceText', () => {
  it.each<[string, unknown]>([
    ['5', 5],
    ['true', true],
    ['False', false],
    [' TRUE ', true],
    ['{"a":[1]}', { a: [1] }],
    [' [1,"2"]', [1, '2']],
    ['{"__proto__":1}', JSON.parse('{"__proto__":1}')],
  ])('[CORE-C1] [CORE-C2] coerceText converts %j to the value that it spells', (text, meaning) => {
    expect(coerceText(text, any)).toEqual([meaning])
  })

  it.each([
    '',
    'null',
    'yes',
    'on',
    'truely',
    '"text"',
    '{"a":',
    '[1,]',
    '{a:1}',
    'undefined',
    'abc',
  ])('[CORE-C3] coerceText does not convert %j', (text) => {
    expect(coerceText(text, any)).toEqual([])
  })

  it.each([
    ['5', 'number'],
    ['true', 'boolean'],
    ['{}', 'object'],
    ['[]', 'array'],
  ])('coerceText converts %j only where a %s is expected', (text, type) => {
    expect(coerceText(text, (wanted) => wanted === type)).toHaveLength(1)
    expect(coerceText(text, (wanted) => wanted !== type && wanted !== 'bigint')).toEqual([])
  })
})
